"""Which lines of a model stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem.writing.known_names import is_known
from mem.writing.model_lines import Limits, LineCheck, identifiers

MEMORY = (
    "Requests over 10KB failed because Kong buffered the whole body before proxying; resolved with proxy-body-size: 0 "
    "on the ingress."
)
EVIDENCE = [
    "curl: (22) The requested URL returned error: 413\nupload of report-2024.csv failed after 31744 bytes",
    "Ошибка: соединение закрыто сервером",
]
LIMITS = Limits(max_lines=4, max_line_characters=120, restated_share=0.65, restated_min_words=5)


def check(*lines: str, known=is_known, memory: str = MEMORY, limits: Limits = LIMITS):
    return LineCheck(memory, EVIDENCE, known, limits).check(lines)


@pytest.mark.parametrize(
    "line",
    [
        "413 Request Entity Too Large",
        "curl: (22) The requested URL returned error: 413",
        "large POST bodies rejected at the ingress; uploads fail while small ones succeed",
        "uploading report-2024.csv breaks off after 31744 bytes",
        "client intended to send too large body",
        "connect ECONNREFUSED: I/O error",
        "the pod ends with exit code 137 and SIGKILL",
        "proxy-body-size",
        "Ошибка: соединение закрыто сервером",
        "HTTP/1.1 413 Payload Too Large",
        "org.example.UploadFailed: requested",
        "org.springframework.web.multipart.MaxUploadSizeExceededException",
        "psycopg.errors.DeadlockDetected",
        "pods stuck pending/waiting",
        "connection to server on port 5432 failed",
    ],
)
def test_a_symptom_stands(line):
    """Messages, observations and known codes stand, and whatever names the memory or its evidence gave."""
    assert check(line).kept == [line]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("Kong buffered the whole body before proxying requests over 10KB", "restates"),
        ("requests failed since the ingress resolved buffering the whole body in Kong", "restates"),
        ("upload rejected by gateway-7.internal.example", "invents"),
        ("413 from /var/lib/kong/buffer", "invents"),
        ("413 in src/upload.ts", "invents"),
        ("413 in handlers/v2", "invents"),
        ("413 in app/handlers/upload", "invents"),
        ("413 below ./uploads", "invents"),
        ("read timed out after 30000 ms", "invents"),
        ("set `client_max_body_size` first", "invents"),
        ("com.acme.UploadTooBigException: body", "invents"),
        ("error ACME-4711 while uploading", "invents"),
        ("nginx 1.25.3 returned 413", "invents"),
        ("use --max-body with care", "invents"),
        ("---- 413 ----", "empty"),
        ("   ", None),
        ("x" * 60 + " " + "y" * 60, "too-long"),
        ("请求实体过大", "foreign"),
        ("Die Anfrage ist zu lang und wird nicht von dem Server angenommen", "foreign"),
        ("La requête est trop grande pour le serveur et les fichiers ne sont pas envoyés", "foreign"),
    ],
)
def test_what_does_not_stand(line, fault):
    """What restates the memory, makes up a name or figure, or is in another language, is dropped with its reason."""
    checked = check(line)
    assert checked.kept == []
    assert [each.fault for each in checked.dropped] == ([] if fault is None else [fault])


def test_a_line_that_quotes_the_evidence_restates_nothing():
    """A message that memory and evidence share is the evidence's."""
    memory = "The log said: the requested URL returned error 413 while uploading."
    line = "the requested URL returned error 413 curl"
    assert check(line, memory=memory).kept == [line]


def test_a_name_that_the_lexicon_knows_stands():
    """What nobody gave but everybody meets is no invention."""
    line = "ProxyBodyTooLargeError in the client"
    assert check(line).kept == []
    assert check(line, known=lambda name: name.casefold() == "proxybodytoolargeerror").kept == [line]


def test_number_order_and_repetition():
    """Lines keep the model's order, stand once however they are written, and are not more than allowed."""
    checked = check("b c", "B C", "a\nb c", "d e", "f g", "h i")
    assert checked.kept == ["b c", "a", "d e", "f g"]
    assert [each.fault for each in checked.dropped] == ["twice", "twice", "too-many"]


def test_thousands_of_lines_are_not_looked_at():
    """Of a model that does not end, the first lines are checked and the rest is counted."""
    checked = check(*[f"made up by ACME-{number}" for number in range(5000)], "413 Request Entity Too Large")
    faults = [each.fault for each in checked.dropped]
    assert (checked.kept, faults.count("invents"), faults.count("too-many")) == ([], 40, 4961)


def test_a_secret_is_redacted():
    """A line is redacted and cleaned like anything else that is stored."""
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    [kept] = check(f"remote:\u202e rejected {token}\x1b[0m").kept
    assert token not in kept
    assert "\u202e" not in kept
    assert "\x1b" not in kept


@given(st.lists(st.text(max_size=200), max_size=8))
def test_any_line_is_sorted_out(lines):
    """Whatever a model writes, what stands is one line each, distinct, short, and stands again when checked again."""
    checked = check(*lines)
    assert len(checked.kept) <= LIMITS.max_lines
    assert all("\n" not in line and 0 < len(line) <= LIMITS.max_line_characters for line in checked.kept)
    assert check(*checked.kept).kept == checked.kept


@given(st.text(alphabet="/._-aA1:'\"`~", max_size=240))
def test_the_search_for_names_ends(line):
    """No line keeps the search for names busy, and what it finds stands in the line, each once."""
    found = identifiers(line)
    assert all(name in line for name in found)
    assert len(set(found)) == len(found)
