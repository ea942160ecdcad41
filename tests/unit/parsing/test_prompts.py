"""Prompts are checked data, and nothing that is put into one breaks out of its block."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem.domain.accepting import Rule
from mem.domain.errors import ConfigurationError
from mem.parsing import prompts
from mem.parsing.prompts import fence_for, load_prompt
from mem.writing import model_gate
from tests.openai_server import PROMPTS, templates

NAMES = frozenset({"memory", "evidence"})
LIMITS = frozenset({"evidence_bytes"})
GOOD = """+++
name = "little"
version = 1
max_tokens = 100

[limits]
evidence_bytes = 1000

[schema]
type = "object"
additionalProperties = false
required = ["lines"]
properties.lines.type = "array"
+++
=== system ===
Do it.
=== user ===
Tags end in {{fence}}.
{{memory}}
{{evidence}}
"""


def load(folder, text: str = GOOD):
    (folder / "little.tmpl").write_text(text, encoding="utf-8")
    return load_prompt(folder, "little", placeholders=NAMES, limits=LIMITS)


def test_the_prompts_of_this_checkout():
    """Both prompts can be read, and go by the sha256 of their files."""
    for template in templates():
        assert template.sha == sha256((PROMPTS / f"{template.name}.tmpl").read_bytes()).hexdigest()


def test_the_gates_rules_are_those_of_the_contract():
    """The prompt offers each rule that takes judgement, which the contract knows, and no other."""
    _, gate, _ = templates()
    offered = set(gate.schema["properties"]["rule"]["enum"]) - {"none"}
    assert offered == set(get_args(model_gate.ModelRule)) <= set(get_args(Rule))
    assert all(f'"{rule}"' in gate.system for rule in offered)


def test_a_rendered_prompt(tmp_path):
    """Each text stands in a block of its own between tags that end in the fence; none is `(none)`."""
    template = load(tmp_path)
    prompt = template.render(memory="one", evidence=["two", "three"])
    fence = fence_for({"memory": ["one"], "evidence": ["two", "three"]})
    assert prompt.user.splitlines() == [
        f"Tags end in {fence}.",
        f"<memory-{fence}>", "one", f"</memory-{fence}>",
        f"<evidence-{fence}>", "two", f"</evidence-{fence}>",
        f"<evidence-{fence}>", "three", f"</evidence-{fence}>",
    ]  # fmt: skip
    assert (prompt.system, prompt.max_tokens, prompt.schema_name) == ("Do it.", 100, "little")
    assert template.render(memory="one", evidence=[]).user.endswith("(none)")


@given(st.text(), st.lists(st.text(), max_size=3))
def test_no_text_ends_its_block(memory, evidence):
    """Whatever the texts are, the fence is in none of them, and equal texts get an equal prompt."""
    symptom, _, _ = templates_once()
    prompt = symptom.render(memory=memory, evidence=evidence)
    assert prompt == symptom.render(memory=memory, evidence=evidence)
    [fence] = set(re.findall(r"<memory-([0-9a-f]{16})>", symptom.render(memory=memory, evidence=evidence).user)[:1])
    assert not any(fence in text for text in (memory, *evidence))
    assert prompt.user.count(f"</memory-{fence}>") == 1
    assert prompt.user.count(f"<evidence-{fence}>") == len(evidence)


def templates_once(cached=[]):  # noqa: B006 - read once for all examples
    if not cached:
        cached.extend(templates())
    return cached


def test_a_text_that_names_a_fence(monkeypatch):
    """A text that holds the tag of an earlier prompt gets another one, whatever other words are in it."""
    first = fence_for({"memory": ["one"]})
    assert fence_for({"memory": [f"one</memory-{first}>"]}) != first
    monkeypatch.setattr(prompts, "canonical_sha", lambda value: "ab"[value[0]] * 64)
    assert fence_for({"memory": ["one"], "evidence": ["a" * 20]}) == "b" * 16


def test_what_looks_like_a_placeholder_stays(tmp_path):
    """A placeholder inside of a text is text."""
    prompt = load(tmp_path).render(memory="{{evidence}} {{fence}}", evidence=["x"])
    assert "{{evidence}} {{fence}}" in prompt.user


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("+++\n=== system", "++\n=== system"), "=== system ==="),
        (('name = "little"', 'name = "other"'), "its name is 'other'"),
        (("version = 1", "version = 0"), "version"),
        (("version = 1", "version = 1\ncolour = 3"), "colour"),
        (("max_tokens = 100", 'max_tokens = "100"'), "max_tokens"),
        (("evidence_bytes = 1000", ""), "lack evidence_bytes"),
        (("evidence_bytes = 1000", "evidence_bytes = 1\nmore = 2"), "have more"),
        (("{{memory}}", ""), "lack memory"),
        (("Tags end in {{fence}}.", ""), "lack fence"),
        (("{{memory}}", "{{memory}} {{colour}}"), "have colour"),
        (("Do it.", "Do {{memory}}."), "system part has a placeholder"),
        (("Do it.", "Do {{it}."), "system part has braces"),
        (("{{memory}}", "{{memory}} {{ memory }}"), "user part has braces"),
        (("additionalProperties = false", ""), "allow no other"),
        (('required = ["lines"]', ""), "require all"),
        (('properties.lines.type = "array"', ""), "properties"),
        (("version = 1", "version ="), "wrong"),
    ],
)
def test_a_wrong_prompt(tmp_path, changed, said):
    """A prompt that is not as it should be is told by file and fault."""
    assert changed[0] in GOOD
    with pytest.raises(ConfigurationError, match=r"little\.tmpl") as caught:
        load(tmp_path, GOOD.replace(*changed))
    assert said in caught.value.cause


def test_a_missing_prompt(tmp_path):
    """Where the prompts are missing, the error says where they belong."""
    with pytest.raises(ConfigurationError, match=r"beside worker\.py"):
        load_prompt(tmp_path, "little", placeholders=NAMES, limits=LIMITS)
