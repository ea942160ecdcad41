"""What every door does to a user's turn before it is sent on."""

from __future__ import annotations

import pytest

from mem.domain.errors import InvalidRequest
from mem.domain.grounding import MAX_MESSAGE_BYTES, GroundRequest
from mem.doors import prepare_ground
from mem.parsing import extract
from mem.recall.ground_modes import MODES
from mem.recall.ground_turn import audience_of, read_turn, read_turn_failure
from tests.unit.gateway.test_doors import FAILURE, HIDDEN, NOISE, SECRET


def turn(**fields) -> GroundRequest:
    return GroundRequest.model_validate({"request_id": "r", "user_id": "u", "message": "m", **fields})


def test_no_secret_of_a_turn_is_sent_on():
    """Every text that a turn can bring is redacted, and the notes name the kind."""
    metadata = dict.fromkeys(("app", "source", "model", "trace_id"), f"x {SECRET}")
    containers = [{"id": "c", "type": f"t {SECRET}"}, {"id": "d", "type": None}]
    prepared = prepare_ground(turn(message=f"why {SECRET}?", metadata=metadata, containers=containers))
    assert SECRET not in prepared.message.model_dump_json()
    assert prepared.message.containers[1].type is None
    assert prepared.message.metadata.app.startswith("x ")
    assert any("redacted" in note for note in prepared.notes)


@pytest.mark.parametrize(
    "fields",
    [{"request_id": SECRET}, {"user_id": SECRET}, {"containers": [{"id": SECRET}]}],
    ids=["request", "user", "container"],
)
def test_an_id_that_is_a_secret_is_refused(fields):
    """Ids cannot be redacted without changing them."""
    with pytest.raises(InvalidRequest):
        prepare_ground(turn(**fields))


def test_hidden_characters_are_taken_out():
    """Of the message, of what the host says, and of the type of a container."""
    prepared = prepare_ground(
        turn(message=f"wh{HIDDEN}y", metadata={"app": f"a{HIDDEN}"}, containers=[{"id": "c", "type": f"t{HIDDEN}"}])
    )
    message = prepared.message
    assert (message.message, message.metadata.app, message.containers[0].type) == ("why", "a", "t")


@pytest.mark.parametrize("message", [HIDDEN, "\x00\x01", "\ufeff"], ids=["zero-width", "controls", "mark"])
def test_a_message_of_hidden_characters_alone_is_refused(message):
    """Nothing is left of it."""
    with pytest.raises(InvalidRequest, match="message"):
        prepare_ground(turn(message=message))


def test_a_clean_turn_goes_as_it_came():
    """What needs nothing is not touched, and unset fields stay unset."""
    asked = turn(containers=[{"id": "c"}], read_mode="deep")
    prepared = prepare_ground(asked)
    assert prepared.message.model_dump(exclude_unset=True) == asked.model_dump(exclude_unset=True)
    assert prepared.notes == ()


@pytest.mark.parametrize("over", [0, 1])
def test_the_line_for_distilling_is_exact(over):
    """A message at the limit goes as it is; one byte more and it is distilled, and says what it took."""
    message = "w" * (MAX_MESSAGE_BYTES + over)
    assert prepare_ground(turn(message=message)).message.original_bytes == (len(message) if over else None)


def test_a_long_message_keeps_what_was_asked_and_what_failed():
    """Of a question with a log behind it both are still there."""
    message = f"How do I get past this?\n{NOISE}{FAILURE}{NOISE}Thank you for your help!"
    prepared = prepare_ground(turn(message=message))
    sent = prepared.message.message
    assert len(sent.encode()) <= MAX_MESSAGE_BYTES
    assert sent.startswith("How do I get past this?")
    assert "Thank you for your help!" in sent
    assert [one.sig_sha for one in extract(sent)] == [one.sig_sha for one in extract(FAILURE)]
    assert prepared.message.original_bytes == len(message.encode())


def test_the_worker_cleans_what_came_without_a_door():
    """A message of somebody who started the workflow himself is redacted, stripped and distilled as well."""
    message = prepare_ground(turn()).message.model_copy(update={"message": f"wh{HIDDEN}y {SECRET}\n{NOISE * 3}"})
    read = read_turn(message, MODES["balanced"])
    assert read.message.startswith("why ")
    assert SECRET not in read.message
    assert len(read.message.encode()) <= 2 * MAX_MESSAGE_BYTES


def test_sentences_are_read_in_the_deep_mode_alone():
    """The deep mode searches with each sentence that says something, the others with the whole message."""
    message = prepare_ground(turn(message="Hello! The build fails on my machine. It worked well yesterday.")).message
    assert read_turn(message, MODES["deep"]).sentences == (
        "The build fails on my machine.", "It worked well yesterday.",
    )  # fmt: skip
    assert read_turn(message, MODES["balanced"]).sentences == ()


def test_of_many_sentences_those_at_both_ends_are_read():
    """What is wanted stands at one of the ends."""
    message = " ".join(f"This is sentence number {number}." for number in range(20))
    sentences = read_turn(prepare_ground(turn(message=message)).message, MODES["deep"]).sentences
    assert [one.split()[-1] for one in sentences] == ["0.", "1.", "2.", "18.", "19."]


def test_containers_are_labels_only_where_the_scope_holds_them():
    """A container that the scope leaves out finds nothing."""
    for scope, named in (("user_global", False), ("user_global_container", True)):
        message = prepare_ground(turn(containers=[{"id": "thread-abc"}], scope_level=scope)).message
        assert ("thread-abc" in read_turn(message, MODES["simple"]).labels) is named


def test_a_failure_in_a_message_is_read_and_talk_is_none():
    """Signatures come from what is known to be a failure."""
    failing = read_turn_failure(f"Can you help?\n{FAILURE}")
    assert failing.tool == "python"
    assert failing.signatures
    assert read_turn_failure("Can you help me with a cake?").signatures == ()


def test_rights_become_the_audience():
    """The projects that may be read, and each container once."""
    message = prepare_ground(turn(containers=[{"id": "b"}, {"id": "a"}, {"id": "b"}])).message
    assert audience_of(message).readable is None
    audience = audience_of(message.model_copy(update={"readable": ["p"]}))
    assert (audience.containers, audience.readable) == (("b", "a"), ("p",))
