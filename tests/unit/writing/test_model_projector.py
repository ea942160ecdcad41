"""The projector that asks a model: what it asks, what it takes, and what it will not read."""

from __future__ import annotations

import json

import pytest

from mem.domain.errors import ControllerRefused
from mem.parsing.model_answers import within_budget
from mem.ports import EvidenceText, Prompt
from mem.writing.known_names import is_known
from mem.writing.model_projector import ModelProjector
from tests.openai_server import templates

MEMORY = "Kong buffered the whole body before proxying; resolved with proxy-body-size: 0 on the ingress."
EVIDENCE = [EvidenceText("e1", "curl: (22) The requested URL returned error: 413\n")]
LINE = "413 Request Entity Too Large"


class Scripted:
    """A controller that says one thing, and keeps what it was asked."""

    model_id = "little-1"

    def __init__(self, answer: str) -> None:
        self.answer_text = answer
        self.asked: list[Prompt] = []

    async def answer(self, prompt: Prompt) -> str:
        self.asked.append(prompt)
        return self.answer_text


def made_with(answer: str) -> tuple[ModelProjector, Scripted]:
    controller = Scripted(answer)
    return ModelProjector(controller, templates()[0], is_known), controller


async def projected(answer: str, memory: str = MEMORY, evidence=EVIDENCE):
    return await made_with(answer)[0].project(memory, evidence)


async def test_a_projection_of_a_model():
    """The lines that stand are the projection, under the model and the prompt that made them."""
    projector, controller = made_with(json.dumps({"symptoms": [LINE, "made up by ACME-4711"]}))
    made = await projector.project(MEMORY, EVIDENCE)
    assert made.text == LINE
    assert [(line.text, line.origin) for line in made.lines] == [(LINE, "model")]
    assert (made.model_id, made.prompt_sha) == projector.key() == ("little-1", templates()[0].sha)
    [prompt] = controller.asked
    assert MEMORY in prompt.user
    assert EVIDENCE[0].text in prompt.user
    assert prompt.sha == made.prompt_sha


@pytest.mark.parametrize(
    "answer", ['{"symptoms": []}', '```json\n{"symptoms": []}\n```', ' {"symptoms": ["ACME-4711"]}']
)
async def test_nothing_is_an_answer(answer):
    """An empty projection is a success, be it the model's own or what is left of its lines."""
    assert (await projected(answer)).text == ""


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "```\n{}```\n", "\n {} \n"])
async def test_a_fence_around_the_answer(around):
    """One code fence around the JSON is tolerated."""
    assert (await projected(around.replace("{}", json.dumps({"symptoms": [LINE]})))).text == LINE


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "413 Request Entity Too Large",
        "<html><body>Welcome</body></html>",
        '{"symptoms": ["413 Request',
        '{"symptoms": "413"}',
        '{"symptoms": [413]}',
        '{"symptoms": null}',
        '{"lines": ["413"]}',
        '{"symptoms": ["413"], "note": "done"}',
        '{"symptoms": [], "symptoms": ["413"]}',
        '["413"]',
        'Here you are: {"symptoms": ["413"]}',
        '{"symptoms": ["\\ud800"]}',
        "[" * 100_000,
        '{"symptoms": ["请求实体过大", "上传失败"]}',
        '{"symptoms": ["Die Anfrage ist zu lang und wird nicht von dem Server angenommen"]}',
    ],
)
async def test_what_cannot_be_read_is_a_refusal(answer):
    """What is not the agreed JSON, or in another language, is the controller's refusal; nothing of it is repeated."""
    with pytest.raises(ControllerRefused, match="little-1") as caught:
        await projected(answer)
    assert "413" not in str(caught.value)


async def test_evidence_in_another_language_may_be_quoted():
    """Lines in the letters of the evidence stand, where the rest of the answer is English."""
    evidence = [EvidenceText("e", "Ошибка: соединение закрыто сервером")]
    lines = ["Ошибка: соединение закрыто сервером", "connection closed by the server"]
    assert (await projected(json.dumps({"symptoms": lines}), evidence=evidence)).text.splitlines() == lines


async def test_evidence_is_shown_within_a_budget():
    """However much evidence there is, what a prompt shows of it is bounded, and the failing lines are in it."""
    noise = "".join(f"step {number} of the build is done\n" for number in range(3000))
    texts = [f"{noise}npm ERR! code E{number:03}\n{noise}" for number in range(30)]
    shown = within_budget(texts, 12_000)
    assert sum(len(text.encode()) for text in shown) <= 12_000
    assert 6 <= len(shown) < 30
    assert all("npm ERR!" in text for text in shown)
    assert within_budget(["", "  "], 12_000) == []
    logs = [f"npm ERR! code E401 {name}\nnpm ERR! missing\n\nok\n" * 60 for name in ("left", "right")]
    assert [name in text for name, text in zip(("left", "right"), within_budget(logs, 4_200), strict=True)] == [
        True
    ] * 2
    assert within_budget(["short", *texts[:2]], 12_000)[0] == "short"
    assert within_budget(["short"] * 100, 600) == ["short"] * 100
    assert len(within_budget(["x" * 100] * 100, 600)) == 6
