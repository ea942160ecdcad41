"""Properties of redaction and stripping over texts made of what secrets are made of."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_bidi_and_zero_width, strip_unsafe
from tests.examples import examples

VALUE = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbcd1"
PIECES = [
    "PASSWORD", "password", "token", "KEY", "secret_key", "--", "=", ": ", " = ", '"', "'", "\\", "\\n",
    "\n", "\r\n", " ", ",", "]", "[", "}", "@", "://", "https://u:", "Bearer ", "Basic ", "authorization: ",
    "gh" + "p_", "ey" + "J", ".", "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----",
    "::add-mask::", "[redacted:secret]", "[redacted:", "redacted", "masked-value", "mysql -p", "curl -u a:",
    "hunter" + "2", "swordfish", "$X", "***", "ä", "\U0001f600", "\ud800", "\x1b[31m", "=1", "required",
    VALUE, VALUE[:20], "0", "%0A", "set-cookie: a=", " login ", "identified by '",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join)


@settings(max_examples=examples(400), deadline=None)
@given(TEXTS)
def test_redacting_again_changes_nothing_and_lines_stay(text: str) -> None:
    """Idempotent, line by line, for whatever comes in."""
    once = redact(text)
    assert once.text.count("\n") == text.count("\n")
    assert redact(once.text) == (once.text, ())
    assert list(once.kinds) == sorted(set(once.kinds))
    assert bool(once.kinds) == (once.text != text)


@settings(max_examples=examples(200), deadline=None)
@given(TEXTS, TEXTS)
def test_a_token_never_survives(before: str, after: str) -> None:
    """A token on a line of its own goes, whatever stands on the other lines."""
    token = "gh" + "p_" + VALUE
    assert VALUE not in redact(f"{before.replace(VALUE, '')}\n{token}\n{after.replace(VALUE, '')}").text


@settings(max_examples=examples(200), deadline=None)
@given(TEXTS | st.text())
def test_stripped_text_can_be_encoded_and_stays_stripped(text: str) -> None:
    """Both strippers are idempotent and leave what UTF-8 can carry."""
    for strip in (strip_unsafe, strip_bidi_and_zero_width):
        once = strip(text).text
        once.encode("utf-8")
        assert strip(once) == (once, 0)
