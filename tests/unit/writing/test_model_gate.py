"""The gate's question to a controller."""

from __future__ import annotations

import json

import pytest

from mem.domain.accepting import AcceptInput, AcceptStep, Evidence, Verdict
from mem.domain.errors import ControllerRefused
from mem.domain.nodes import Node
from mem.ports import AppendPlan
from mem.testing import FakeJournal, FakeMemories, FakeState
from mem.writing.candidate import load_candidate, record_candidate
from mem.writing.gate import gate
from mem.writing.model_gate import NO_VERDICT, ModelGate
from tests.openai_server import templates
from tests.unit.writing.test_model_projector import Scripted

LESSON = "Kong buffers bodies over ten kilobytes; set proxy-body-size to zero on the ingress."
STEP = AcceptStep(project="p", request_id="1")


def said(accept: bool = True, rule: str = "none", reason: str = "It names a remedy.", **more: object) -> str:
    return json.dumps({"accept": accept, "rule": rule, "reason": reason, **more})


class Bench:
    """A journal and memories, with one recorded candidate."""

    def __init__(self, answer: str) -> None:
        state = FakeState()
        self.journal, self.memories = FakeJournal(state), FakeMemories(state)
        self.controller = Scripted(answer)
        self.judge = ModelGate(self.controller, templates()[1], self.memories)

    async def gate(self, *, last: bool = False, **fields) -> Verdict:
        given = {"text": LESSON, "evidence": [Evidence(source="ci", text="error: 413")], **fields}
        request = AcceptInput.model_validate({"request_id": "1", "project": "p", "level": "L1"} | given)
        await record_candidate(self.journal, request)
        step = STEP.model_copy(update={"last_ask": last})
        return await gate(self.journal, self.memories, step, await load_candidate(self.journal, step), self.judge)


async def test_the_controller_has_the_last_word():
    """Where no rule objects, the verdict is the controller's, under its model and prompt, and is recorded once."""
    bench = Bench(said(accept=False, rule="speculation", reason="Nobody checked it."))
    verdict = await bench.gate()
    assert (verdict.accept, verdict.rule, verdict.reason) == (False, "speculation", "Nobody checked it.")
    assert (verdict.model_id, verdict.prompt_sha) == ("little-1", templates()[1].sha)
    bench.controller.answer_text = said()
    assert await bench.gate() == verdict
    [prompt] = bench.controller.asked
    assert LESSON in prompt.user
    assert "error: 413" in prompt.user


async def test_rules_come_first():
    """A candidate that a rule objects to costs no question."""
    bench = Bench(said())
    verdict = await bench.gate(text="fixed it")
    assert (verdict.rule, verdict.model_id) == ("trivial", None)
    assert bench.controller.asked == []


@pytest.mark.parametrize(
    ("answer", "accept", "rule"),
    [
        (said(), True, None),
        (said(accept=True, rule="trivial"), True, None),
        (said(accept=False, rule="none"), False, "controller"),
        (said(accept=False, rule="controller"), False, "controller"),
        (f"```json\n{said(accept=False, rule='unsupported')}\n```", False, "unsupported"),
    ],
)
async def test_the_rule_of_a_verdict(answer, accept, rule):
    """An acceptance has no rule; a rejection has the one that was named, or says that it is the controller's."""
    verdict = await Bench(answer).gate()
    assert (verdict.accept, verdict.rule) == (accept, rule)


async def test_the_reason_is_one_bounded_line_without_secrets():
    """What a model gives as its reason is stored redacted, on one line, and not at any length."""
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    verdict = await Bench(said(reason=f"The token\n{token} is\u202e in it. {'So long. ' * 80}")).gate()
    assert token not in verdict.reason
    assert "\n" not in verdict.reason
    assert "\u202e" not in verdict.reason
    assert len(verdict.reason) == 300


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "yes",
        said(rule="duplicate"),
        said(rule="no-evidence"),
        said(rule="because"),
        said(reason=" "),
        said(more=1),
        '{"accept": "true", "rule": "none", "reason": "x"}',
        '{"accept": true, "reason": "x"}',
    ],
)
async def test_a_verdict_that_cannot_be_read(answer):
    """It is asked for again; the last time the verdict of the rules stands and says so, under no model."""
    bench = Bench(answer)
    with pytest.raises(ControllerRefused):
        await bench.gate()
    verdict = await bench.gate(last=True)
    assert (verdict.accept, verdict.rule, verdict.model_id, verdict.prompt_sha) == (True, None, None, None)
    assert verdict.reason.endswith(NO_VERDICT)
    assert len(bench.controller.asked) == 2


async def test_a_synthesis_is_judged_by_its_parents():
    """What a candidate is drawn from is shown, also where it brings no evidence itself."""
    bench = Bench(said())
    lesson = Node(level="L1", project="p", text=LESSON)
    await bench.memories.append(AppendPlan(key="k", node=lesson, evidence=(), parents=(), supersedes=()))
    text = "Two proxies in a row buffer twice; measure the limits of both."
    await bench.gate(level="L2", text=text, evidence=[], parents=[lesson.sha])
    [prompt] = bench.controller.asked
    assert LESSON in prompt.user
    assert text in prompt.user
