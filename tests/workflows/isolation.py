"""Two stacks over HTTP: one where another project has everything, and its twin where that project never was."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

import httpx2
import pytest

from mem import reading as reading_module
from mem import wiring
from mem.addresses import find_addresses
from mem.domain.nodes import Node
from mem.domain.rights import Token, hash_of
from mem.gateway.app import create_app
from mem.gateway.reading import Reading
from mem.gateway.tokens import Tokens
from mem.ports import AppendPlan, Document, Skill
from mem.recall.query import read_failure
from mem.settings import Settings
from mem.testing import FakeClock, FakeEmbedder
from mem.wiring import open_ports
from mem.writing.reference import reference_nodes
from tests.temporal_server import Rig, TemporalServer

OURS, THEIRS, OPEN = "isolated-ours", "isolated-theirs", "isolated-open"
"""A's project; the one that A may not read; and one that both may."""
MARK = "zzmarker"
"""Stands in every text of the other project but one, which is a text of A's, too."""

SHARED_LOG = (
    "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\n"
    'npm ERR! Could not resolve dependency:\nnpm ERR! peer react@"^18" from @types/react@18.0.1\n'
)
OUR_LOG = "Traceback (most recent call last):\n  File \"app.py\", line 3, in f\n    g()\nKeyError: 'colour'\n"
GAP_LOG = "error[E0425]: cannot find value `zz` in this scope\n --> src/main.rs:3:5\n"
CROSSING_LOG = GAP_LOG.replace("zz", "crossing_gate")
"""Leads to a memory that another project's superseded, and one of ours that one."""
_BUCKET = (
    "Error: error creating S3 Bucket ({0}): BucketAlreadyExists: The requested bucket name is not available.\n"
    '  on main.tf line 12, in resource "aws_s3_bucket" "{0}":\n'
)
_UNDEFINED = "# example.com/app\n./main.go:12:5: undefined: {0}\n"
THEIR_LOGS = (_BUCKET.format(MARK), _UNDEFINED.format(MARK))
NOBODYS_LOGS = (_BUCKET.format("yynowhere"), _UNDEFINED.format("yynowhere"))

OUR_LESSON = (
    "The peer range of @types/react excludes react 19: pin it through `overrides` instead of forcing the install."
)
THEIR_LESSON = f"The bucket name {MARK} is taken by another account: add the account id to the name in main.tf."
THEIR_OTHER = f"The function {MARK} moved to the package util: import it from there."
SAID_AGAIN = f"The bucket name {MARK} is taken by another account; add the account id to the name in main.tf!"

READER = b"ours"
OPERATOR = b"all"
_TOKENS = [
    Token(name="ours", sha256=hash_of(READER), read=[OURS, OPEN], write=[OURS]),
    Token(name="all", sha256=hash_of(OPERATOR), all_projects=True, write=["*"]),
]


class Call(NamedTuple):
    """One request."""

    method: str
    path: str
    body: dict[str, Any] | None = None


class Answered(NamedTuple):
    """What came back, to the byte."""

    status: int
    body: bytes
    headers: tuple[str | None, ...]


class Stack:
    """A worker, its database and its gateway."""

    def __init__(self, rig: Rig, http: httpx2.AsyncClient) -> None:
        self.rig = rig
        self._http = http
        self.theirs: list[str] = []

    async def send(self, call: Call, secret: bytes = READER) -> Answered:
        headers = {"Authorization": f"Bearer {secret.decode()}"}
        response = await self._http.request(call.method, call.path, json=call.body, headers=headers)
        names = ("content-type", "mem-request-id", "mem-note", "www-authenticate", "retry-after", "content-length")
        return Answered(response.status_code, response.content, tuple(map(response.headers.get, names)))

    async def accept(self, text: str, log: str, request_id: str, project: str = OURS, **fields: Any) -> str:
        """Have a lesson accepted; its sha."""
        evidence = [{"source": f"ci:{request_id}", "turn": 1, "text": log}]
        body = {"request_id": request_id, "project": project, "level": "L1", "text": text, "evidence": evidence}
        answered = await self.send(Call("POST", "/memory/accept", body | fields), OPERATOR)
        assert b'"status":"accepted"' in answered.body, answered
        sha = str(answered.body.split(b'"sha":"')[1][:64], "ascii")
        if project == THEIRS:
            self.theirs.append(sha)
        return sha

    async def look_up(self, log: str, request_id: str, project: str = OURS, **fields: Any) -> None:
        body = {"request_id": request_id, "project": project, "signature_source": log, **fields}
        assert (await self.send(Call("POST", "/memory/context", body), OPERATOR)).status == 200

    async def document(self, text: str, source: str, project: str | None) -> None:
        ports = self.rig.ports
        nodes = reference_nodes(text, source=source, project=project)
        await ports.reference.put([Document(nodes[0].project, source, tuple(nodes))])
        await ports.reference.complete([node.sha for node in nodes], ports.embedder)

    async def append(self, text: str, project: str, **fields: Any) -> str:
        """Put a lesson into the store past the gate, with edges that the gate lets nobody make."""
        node = Node(level="L1", project=project, text=text)
        await self.rig.ports.memories.append(
            AppendPlan(
                f"appended:accept:{project}:{node.sha[:9]}",
                node,
                **{"evidence": (), "parents": (), "supersedes": ()} | fields,
            )
        )
        await self.rig.ports.memories.put_vectors("text", {node.sha: text}, self.rig.ports.embedder)
        return node.sha


@asynccontextmanager
async def stacks(
    server: TemporalServer, urls: tuple[str, str], namespaces: tuple[str, str]
) -> AsyncIterator[list[Stack]]:
    """The stack with the other project, and the one without, at the same standing time."""
    async with AsyncExitStack() as opened:
        patch = opened.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(wiring.MiniLmEmbedder, "load", FakeEmbedder)
        patch.setattr(wiring, "SystemClock", FakeClock)
        patch.setattr(reading_module, "SystemClock", FakeClock)
        made = []
        for url, namespace in zip(urls, namespaces, strict=True):
            settings = Settings(database_url=url, temporal_address=server.address)
            ports = await opened.enter_async_context(open_ports(find_addresses(settings), settings))
            rig = Rig(await server.client(namespace), ports)
            await opened.enter_async_context(rig.working())
            reading = await opened.enter_async_context(Reading(url))
            transport = httpx2.ASGITransport(create_app(rig.memory, reading, Tokens(_TOKENS)))
            http = httpx2.AsyncClient(transport=transport, base_url="http://test", timeout=60)
            made.append(Stack(rig, await opened.enter_async_context(http)))
        yield made


async def fill(stack: Stack, *, others: bool) -> None:
    """What A sees is the same in both; with `others` the other project has all of its own beside it."""
    ports = stack.rig.ports
    if others:
        await _fill_theirs(stack)
    await stack.accept(OUR_LESSON, SHARED_LOG, "our-1")
    second = await stack.accept("The key colour is missing in old settings files: give it a default.", OUR_LOG, "our-2")
    old = await stack.accept(
        "Delete the lock file of the builder before each run.", GAP_LOG.replace("zz", "yy"), "our-3"
    )
    newer = "Name the builder's lock file after its run, so that two never share one."
    await stack.accept(newer, GAP_LOG.replace("zz", "yy"), "our-4", supersedes=[old])
    await stack.accept(
        "Defaults belong to the reader of settings, not to the file.", OUR_LOG, "our-5", level="L2", parents=[second]
    )
    private = {"user_id": "user-1", "visibility": "user"}
    await stack.accept("Ask before a deploy on Fridays, the pager is with a trainee.", OUR_LOG, "our-6", **private)
    await stack.accept(
        "The mirror of the registry lags by an hour after a release.", SHARED_LOG, "open-1", project=OPEN
    )
    await stack.document(f"# npm\n\n{SHARED_LOG}", "npm.md", None)
    await stack.document(f"# buckets\n\n{_BUCKET.format('ours')}", "buckets.md", OURS)
    await ports.skills.put(Skill("npm-triage", SHARED_LOG, "", "*"), ports.embedder)
    await ports.skills.put(Skill("bucket-names", _BUCKET.format("ours"), "", OURS), ports.embedder)
    for number, log in enumerate((GAP_LOG, *THEIR_LOGS, SHARED_LOG)):
        await stack.look_up(log, f"our-look-{number}", scope="all-projects")
    if others:
        await _fill_theirs_later(stack)
    await _cross(stack, others=others)


async def _fill_theirs(stack: Stack) -> None:
    ports = stack.rig.ports
    await stack.accept(THEIR_LESSON, THEIR_LOGS[0], "their-1", project=THEIRS)
    await stack.accept(
        f"Hold react at 18 in the shop of {MARK} until its grid takes 19.", SHARED_LOG, "their-2", project=THEIRS
    )
    await stack.accept(OUR_LESSON, SHARED_LOG, "our-1", project=THEIRS)
    old = await stack.accept(f"Import {MARK} from the old package path.", THEIR_LOGS[1], "their-3", project=THEIRS)
    new = await stack.accept(THEIR_OTHER, THEIR_LOGS[1], "their-4", project=THEIRS, supersedes=[old])
    synthesis = f"Names such as {MARK} are made unique by whoever owns them."
    await stack.accept(synthesis, THEIR_LOGS[1], "their-5", project=THEIRS, level="L2", parents=[new])
    for user, visibility in (("user-2", "user"), ("user-1", "global"), ("user-1", "container")):
        fields = {
            "user_id": user,
            "visibility": visibility,
            "container": "chat-1" if visibility == "container" else None,
        }
        text = f"Release {MARK} only after {user} looked at the {visibility} checklist."
        await stack.accept(text, THEIR_LOGS[0], f"their-{user}-{visibility}", project=THEIRS, **fields)
    await stack.document(f"# {MARK}\n\n{THEIR_LOGS[0]}", "buckets.md", THEIRS)
    await ports.skills.put(Skill(f"{MARK}-skill", f"{SHARED_LOG} {THEIR_LOGS[0]}", MARK, THEIRS), ports.embedder)


async def _fill_theirs_later(stack: Stack) -> None:
    for number, log in enumerate((GAP_LOG, OUR_LOG, SHARED_LOG, *THEIR_LOGS)):
        await stack.look_up(log, f"ask-{number}", project=THEIRS)
    for number, user in enumerate(("user-1", "user-2") * 6):
        turn = {"request_id": f"turn-{number}", "user_id": user, "message": f"What holds for {MARK}?"}
        assert (await stack.send(Call("POST", "/v1/context", turn), OPERATOR)).status == 200
    question = {"request_id": "ask-q", "project": THEIRS, "question": f"Where does {MARK} come from?"}
    assert (await stack.send(Call("POST", "/memory/query", question), OPERATOR)).status == 200


async def _cross(stack: Stack, *, others: bool) -> None:
    """Chains and edges through the other project; without it they lead straight on."""
    first = await stack.append("Rotate the log of the crossing gate every night.", OURS)
    signatures = read_failure(CROSSING_LOG).signatures
    await stack.rig.ports.failures.link(project=OURS, request_id="crossing", sha=first, signatures=signatures)
    between: tuple[str, ...] = (first,)
    parents: tuple[str, ...] = ()
    if others:
        middle = await stack.append(f"Rotate the log of {MARK} every night.", THEIRS, supersedes=(first,))
        stack.theirs.append(middle)
        between = (middle,)
        parents = tuple(one.stored_sha for one in await stack.rig.ports.memories.evidence(stack.theirs[0]))
    await stack.append(
        "The crossing gate writes little by day, so its size decides when its log goes.",
        OURS,
        supersedes=between,
        parents=parents,
    )
