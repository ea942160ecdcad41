"""Laws of the vocabulary."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from mem.domain.accepting import MAX_TEXT_BYTES, AcceptRequest, check_limits
from mem.domain.canonical import canonical_json
from mem.domain.errors import TooLarge
from mem.domain.ids import Project, RequestId, fingerprint
from mem.domain.nodes import Node

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=12)
FIELDS = st.dictionaries(TEXT, VALUES, max_size=6)
NODES = st.builds(
    Node,
    level=st.sampled_from(["L0", "L1", "L2", "R"]),
    project=st.sampled_from(["p", "q"]),
    text=st.sampled_from(["a", "b", "a "]),
    visibility=st.sampled_from(["global", "user", "container"]),
    owner=st.sampled_from([None, "u", "v"]),
    container=st.sampled_from([None, "u", "v"]),
    source=st.sampled_from([None, "s", "t"]),
    turn=st.sampled_from([None, 0, 1]),
)
_PROJECT = TypeAdapter(Project)
_REQUEST_ID = TypeAdapter(RequestId)


def shuffled(value, random):
    """The same value with the keys of every object in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(each, random)) for key, each in value.items()]
        random.shuffle(items)
        return dict(items)
    return [shuffled(each, random) for each in value] if isinstance(value, list) else value


@given(VALUES, st.randoms(use_true_random=False))
def test_canonical_json_depends_on_the_value_alone(value, random):
    """Equal values have equal bytes in whatever order they were built, and the bytes give the value back."""
    written = canonical_json(value)
    assert canonical_json(shuffled(value, random)) == written
    assert json.loads(written) == value
    assert canonical_json(json.loads(written)) == written


@given(FIELDS, TEXT, st.sampled_from(["all", "durable"]), st.randoms(use_true_random=False))
def test_a_fingerprint_is_one_for_all_sends_of_a_body(fields, request_id, wait, random):
    """Order, request id and `wait` never change a fingerprint."""
    sent = shuffled({**fields, "request_id": request_id, "wait": wait}, random)
    bare = {name: value for name, value in fields.items() if name not in {"request_id", "wait"}}
    assert fingerprint(sent) == fingerprint(bare)


@given(NODES, NODES)
def test_two_nodes_are_one_exactly_when_their_identity_is(one, other):
    """Shas are equal if and only if all fields of identity are."""

    def identity(node):
        base = (node.level, node.project, node.text, node.visibility, node.owner, node.container)
        return base + {"L0": (node.source, node.turn), "R": (node.source,)}.get(node.level, ())

    assert (one.sha == other.sha) == (identity(one) == identity(other))


@given(st.text(max_size=70) | st.text(st.sampled_from("aZ0._-"), min_size=60, max_size=68))
def test_a_project_is_what_the_contract_says_and_nothing_else(text):
    """The pattern agrees with one written in another engine."""
    assert accepted(_PROJECT, text) == bool(re.fullmatch(r"[A-Za-z0-9._\-]{1,64}", text))


@given(st.text(max_size=10) | st.text(st.sampled_from("a ~!"), min_size=195, max_size=205))
def test_a_request_id_is_what_the_contract_says_and_nothing_else(text):
    """1 to 200 printable ASCII characters."""
    assert accepted(_REQUEST_ID, text) == (0 < len(text) <= 200 and text.isascii() and text.isprintable())


@given(st.integers(-6, 6), st.sampled_from(["x", "ü", '"', "\n", "\x01", "🙂"]))
def test_the_limit_of_a_text_is_exact_for_every_kind_of_character(over, char):
    """A text is too large exactly when its encoded JSON is over 8 KB."""
    each = len(json.dumps(char, ensure_ascii=False).encode()) - 2
    count = (MAX_TEXT_BYTES - 2 - 1) // each + over
    text = "y" + char * count
    request = AcceptRequest(request_id="r", project="p", level="L1", text=text)
    try:
        check_limits(request)
        fits = True
    except TooLarge:
        fits = False
    assert fits == (3 + each * count <= MAX_TEXT_BYTES)


def accepted(adapter: TypeAdapter[str], text: str) -> bool:
    try:
        adapter.validate_python(text)
    except ValidationError:
        return False
    return True
