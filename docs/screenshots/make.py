"""The pictures of docs/ui.md: the real Temporal UI over a stack of its own, filled by the demonstration.

Run by `make screenshots`, which installs what drives the browser. The browser itself is the machine's Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

import psycopg
from PIL import Image
from playwright.async_api import BrowserContext, Error, Frame, Page, async_playwright
from psycopg import sql
from rich.console import Console

from mem.app_dir import find_app_dir
from mem.cli.demo.material import log_text
from mem.cli.demo.tour import Tour
from mem.client import MemoryClient
from mem.clients.temporal.connection import connect
from mem.domain.ids import accept_workflow_id, context_workflow_id, replay_workflow_id
from mem.domain.lookup import ContextRequest
from mem.local import StackFile, StackOptions, app_parts, remove_data, running_stack
from mem.settings import Settings

FOLDER = Path(__file__).parent
WIDTH = 1440
SIDEBAR, HEADER = 256, 60
"""Pixels at the left and at the top that are the same on every page."""
MARGIN = 24
COLOURS = 96
MAX_BYTES = 200_000
START_SECONDS = 240.0
"""For a part to be ready on a machine that does other things too."""
PATIENCE = 60_000
"""Milliseconds for a page, or for a text on it, to appear."""

COLUMNS = ("Status", "Workflow ID", "MemTool", "MemTier", "MemOutcome", "MemDegraded")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-lcd-text",
)  # fmt: skip
BOTTOM = """() => Math.max(...[...document.querySelectorAll('main :is(iframe, p, td, li, pre, h3, button, [role=tab])')]
    .map(each => each.getBoundingClientRect()).filter(box => box.width && box.height).map(box => box.bottom))"""
"""Where the last thing that can be read ends."""

UNNAME = r"""() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let each = texts.nextNode(); each; each = texts.nextNode())
        each.data = each.data.replace(/\d+@\S+/g, 'worker');
}"""
"""Workers call themselves by the name of their host, which is for no picture."""


class Shot(NamedTuple):
    """One picture: its name, the page, and a text of that page which shows that it is there."""

    name: str
    path: str
    shows: str
    top: int = HEADER
    height: int = 1900
    """Of the window; a list fills it."""


class Screens:
    """Takes pictures of the UI of one namespace."""

    def __init__(self, stack: StackFile, context: BrowserContext) -> None:
        self._root = f"{stack.ui}/namespaces/{stack.temporal.namespace}"
        self._context = context

    async def take(self, shot: Shot) -> None:
        """Open a page, wait for what it is to show, and keep what can be read of it.

        Raises:
            SystemExit: the picture is too large for a repository.
        """
        page = await self._context.new_page()
        await page.set_viewport_size({"width": WIDTH, "height": shot.height})
        await page.goto(f"{self._root}/{shot.path}", wait_until="domcontentloaded", timeout=PATIENCE)
        await _shown(page, shot.shows)
        await page.evaluate(UNNAME)
        bottom = min(await page.evaluate(BOTTOM) + MARGIN, shot.height)
        box = {"x": SIDEBAR, "y": shot.top, "width": WIDTH - SIDEBAR, "height": bottom - shot.top}
        path = FOLDER / f"{shot.name}.png"
        await page.screenshot(path=path, clip=box)  # type: ignore[arg-type]  # the keys are those of its FloatRect
        await page.close()
        await asyncio.to_thread(_shrink, path)
        size = path.stat().st_size
        print(f"{path.name}: {box['width']:.0f} x {box['height']:.0f}, {size:,} bytes")
        if size > MAX_BYTES:
            sys.exit(f"error: {path.name} takes {size:,} bytes; the limit is {MAX_BYTES:,}.")


async def make(chromium: str) -> None:
    """Fill a stack and take every picture."""
    settings = Settings()
    home = Path(tempfile.mkdtemp(prefix="mem-screenshots-"))
    try:
        # No lookup has to be kept from waiting for a write: each part gets the time that there is.
        parts = tuple(part.model_copy(update={"niceness": 0, "start_timeout": START_SECONDS}) for part in app_parts())
        options = StackOptions(app_dir=find_app_dir(settings.app_dir), parts=parts)
        async with running_stack(home, options) as stack:
            memory = await MemoryClient.connect(
                address=stack.temporal.address, namespace=stack.temporal.namespace, task_queue=stack.task_queue
            )
            await Tour(stack, memory, Console(file=StringIO())).run(settings)
            await memory.replay(check=True)
            async with _browser(chromium) as context:
                await _take_all(stack, memory, Screens(stack, context))
    finally:
        await asyncio.to_thread(remove_data, home)


async def _take_all(stack: StackFile, memory: MemoryClient, screens: Screens) -> None:
    filters = urlencode({"query": 'MemProject = "webshop"'}, quote_via=quote)
    await screens.take(Shot("list", f"workflows?{filters}", "accept:webshop:demo-grid-peer", height=700))
    accepted = await _run(stack, accept_workflow_id("homelab", "demo-upload-limit"))
    await screens.take(Shot("accepted", f"{accepted}/user-metadata", "Signatures: the exact keys"))
    await screens.take(Shot("timeline", f"{accepted}/timeline", "Judge the candidate", top=690, height=1200))
    rejected = await _run(stack, accept_workflow_id("webshop", "demo-says-nothing"))
    await screens.take(Shot("rejected", f"{rejected}/user-metadata", "Verdict: reject"))
    found = await _run(stack, context_workflow_id("homelab", "demo-novel-wording"))
    await screens.take(Shot("lookup", f"{found}/user-metadata", "Nearest misses"))
    checked = await _run(stack, replay_workflow_id(check=True))
    await screens.take(Shot("rebuild", f"{checked}/user-metadata", "discard_replayed"))
    async with _locked(stack, "request_ledger", "skill"):
        log = log_text("python-413.2.log")
        await memory.look_up(ContextRequest(request_id="while-locked", project="homelab", signature_source=log))
        degraded = await _run(stack, context_workflow_id("homelab", "while-locked"))
        await screens.take(Shot("degraded", f"{degraded}/user-metadata", "at work since", height=1350))
        await screens.take(Shot("pending", f"{degraded}/pending-activities", "Last Failure", top=335))


def _shrink(path: Path) -> None:
    """Write a picture anew with a palette, which text on plain ground does not miss more of."""
    with Image.open(path) as picture:
        smaller = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    smaller.save(path, optimize=True)


async def _run(stack: StackFile, workflow_id: str) -> str:
    """The path of the last run under an id."""
    client = await connect(address=stack.temporal.address, namespace=stack.temporal.namespace)
    described = await client.get_workflow_handle(workflow_id).describe()
    return f"workflows/{quote(workflow_id, safe='')}/{described.run_id}"


@asynccontextmanager
async def _locked(stack: StackFile, *tables: str) -> AsyncIterator[None]:
    """Tables that nobody can read for the length of a block, as in a migration of somebody's own."""
    async with await psycopg.AsyncConnection.connect(stack.database_url) as connection:
        for table in tables:
            await connection.execute(sql.SQL("LOCK TABLE {}").format(sql.Identifier("mem", table)))
        yield
        await connection.rollback()


@asynccontextmanager
async def _browser(chromium: str) -> AsyncIterator[BrowserContext]:
    """Chromium without a window, on an empty profile that shows our columns in its lists."""
    columns = json.dumps({"default": [{"label": name} for name in COLUMNS]})
    with tempfile.TemporaryDirectory(prefix="mem-chromium-") as profile:
        async with async_playwright() as driver:
            context = await driver.chromium.launch_persistent_context(
                profile,
                executable_path=chromium,
                headless=True,
                args=list(QUIET),
                timezone_id="UTC",
            )
            await context.add_init_script(
                f"localStorage.setItem('namespace-workflow-table-columns', {json.dumps(columns)})"
            )
            yield context
            await context.close()


async def _shown(page: Page, text: str) -> None:
    """Return once a text is there and what moves has come to rest; details stand in frames of their own."""
    async with asyncio.timeout(PATIENCE / 1000):
        while not any([await _holds(frame, text) for frame in page.frames]):
            await page.wait_for_timeout(200)
    await page.evaluate("document.fonts.ready")
    await page.wait_for_timeout(1500)


async def _holds(frame: Frame, text: str) -> bool:
    try:
        return await frame.get_by_text(text).count() > 0
    except Error:
        return False  # it was exchanged for another one meanwhile


def main() -> None:
    """Take the pictures anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser; default: chromium on PATH")
    given = parser.parse_args()
    if given.chromium is None:
        sys.exit("error: chromium is not on the PATH. Install it (Debian: `apt install chromium`), or name it.")
    asyncio.run(make(given.chromium))


if __name__ == "__main__":
    main()
