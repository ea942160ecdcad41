import asyncio, time
from contextlib import suppress
import pytest
from mem.domain.lookup import ContextRequest
from mem.domain.errors import *
from mem.testing import *
from tests.temporal_server import *
LOG = "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! peer react@\"^18\" from @types/react@18.0.1\n"

class Stuck:
    def __init__(self): self.fail=True; self.calls=0
    async def __call__(self, request):
        self.calls+=1
        if self.fail: 
            if self.fail=="bug": raise ConfigurationError("cfg","fix")
            await asyncio.sleep(30)
        return await self.real(request)

@pytest.fixture
def stuck(rig):
    s=Stuck(); s.real=rig.ports.look_up; return s

async def ask(rig, **k):
    t=time.monotonic()
    try: r=await rig.memory.look_up(ContextRequest(request_id="1",project=rig.project,signature_source=LOG), **k); print("OK", r.body[:60], round(time.monotonic()-t,2)); return r
    except BaseException as e: print("ERR", type(e), e, round(time.monotonic()-t,2)); return e

def worker(rig, stuck):
    return build_worker(rig.temporal, replace(rig.ports, look_up=stuck), task_queue=rig.task_queue)

@pytest.mark.parametrize("how",["terminate","cancel","bug"])
async def test_retry(rig, stuck, how):
    if how=="bug": stuck.fail="bug"
    async with worker(rig, stuck):
        t=asyncio.create_task(ask(rig))
        await asyncio.sleep(1)
        h=rig.context_handle("1")
        if how=="terminate": await h.terminate()
        elif how=="cancel": await h.cancel()
        if how!="terminate":
            await asyncio.wait([t],timeout=20)
        stuck.fail=False
        await t
        print((await h.describe()).status)
        await ask(rig, deadline=15)
        print((await h.describe()).status, stuck.calls)
        await ask(rig, deadline=15)
        for e in await events(h): print(EventType.Name(e.event_type))

async def test_cancel_caller(rig):
    with suppress(TimeoutError):
        async with asyncio.timeout(2):
            await ask(rig, deadline=15)
async def test_no_worker(rig):
    await ask(rig, deadline=3)
