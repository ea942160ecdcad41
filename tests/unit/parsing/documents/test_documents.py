"""Formats told apart, bytes as text, and sections as chunks."""

from __future__ import annotations

import pytest

from mem.parsing.documents import (
    Block,
    UnreadableError,
    chunks,
    document_sections,
    document_text,
    format_of,
    guess_format,
)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.md", "markdown"),
        ("A.MD", "markdown"),
        ("x/b.rst", "rst"),
        ("c.htm", "html"),
        ("d.txt", "text"),
        ("e.py", None),
        ("md", None),
    ],
)
def test_a_name_tells_the_format(name, form):
    """By its suffix, in any case."""
    assert format_of(name) == form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("<!DOCTYPE html><p>x", "html"),
        ('<?xml version="1.0"?>\n<!-- c -->\n<html>', "html"),
        ("Title\n=====\n\n.. note:: x\n", "rst"),
        ("Run::\n\n    make\n", "rst"),
        ("# Title\n\n.. odd\n", "markdown"),
        ("Title\n=====\n\n[a](b)\n", "markdown"),
        ("plain words", "markdown"),
        ("<details> in Markdown", "markdown"),
    ],
)
def test_a_text_tells_the_format(text, form):
    """Where no name does."""
    assert guess_format(text) == form


def test_a_text_file_in_restructuredtext_is_read_as_that():
    """Some projects keep their documentation so; any other text is its paragraphs."""
    assert [one.headings for one in document_sections("Title\n=====\n\n.. note:: x\n", "text")] == [("Title",)]
    (section,) = document_sections("# no heading\n\n  two\n lines\n\n\n\nthree\n", "text")
    assert [block.text for block in section.blocks] == ["# no heading", "  two\n lines", "three"]


@pytest.mark.parametrize(
    ("data", "form", "text"),
    [
        (b"\xef\xbb\xbfa\r\nb\rc", "markdown", "a\nb\nc"),
        ("grün".encode("utf-16"), "text", "grün"),
        (b'<meta charset="iso-8859-1">\x93gr\xfcn\x94', "html", '<meta charset="iso-8859-1">\u201cgrün\u201d'),
        (b'<meta http-equiv=x content="text/html; charset=shift_jis">\x93\xfa', "html", None),
        ("<p>grün".encode(), "html", "<p>grün"),
    ],
)
def test_bytes_are_read_in_their_encoding(data, form, text):
    """UTF-8, what the first bytes say, or what a page declares."""
    assert document_text(data, form).endswith("日") if text is None else document_text(data, form) == text


@pytest.mark.parametrize(
    ("data", "form", "told"),
    [
        (b"gr\xfcn", "markdown", "byte 2 is not UTF-8"),
        (b"<p>gr\xfcn", "html", "byte 5 is not UTF-8"),
        (b"\xff\xfea", "text", "not UTF-16"),
        (b"a\x00b", "markdown", "binary"),
        (b"<meta charset=klingon>", "html", "unknown encoding klingon"),
    ],
)
def test_bytes_that_are_no_text_say_so(data, form, told):
    """What is guessed wrong would be found by nobody."""
    with pytest.raises(UnreadableError, match=told):
        document_text(data, form)


def test_a_parser_that_fails_is_told_as_such(monkeypatch):
    """One document must not keep the others out."""
    monkeypatch.setitem(
        __import__("mem.parsing.documents.formats", fromlist=["_PARSERS"])._PARSERS, "rst", lambda _: 1 // 0
    )
    with pytest.raises(UnreadableError, match="the parser of rst fails on it: ZeroDivisionError"):
        document_sections("x", "rst")


def test_blocks_are_put_together_up_to_the_limit():
    """In their order, parted by blank lines."""
    assert chunks([Block("a" * 40), Block("b" * 40), Block("c" * 40)], 100) == ["a" * 40 + "\n\n" + "b" * 40, "c" * 40]


def test_code_is_cut_only_where_it_alone_is_too_long():
    """Then between lines, and each part has the fences."""
    code = Block("\n".join(f"line {number}" for number in range(10)), "```sh")
    assert chunks([Block("x" * 50), code], 120) == ["x" * 50, code.whole()]
    parts = chunks([code], 50)
    assert all(part.startswith("```sh\n") and part.endswith("\n```") and len(part) <= 50 for part in parts)
    assert "\n".join(part[6:-4] for part in parts) == code.text


@pytest.mark.parametrize("text", ["word " * 200, "A sentence. " * 100, "one\ntwo\n" * 100, "x" * 1000, "a\n\n" * 300])
@pytest.mark.parametrize("fence", ["", "```"])
def test_no_chunk_is_too_long_and_nothing_is_lost(text, fence):
    """Whatever stands there, with spaces or without."""
    parts = chunks([Block(text.strip(), fence)], 90)
    assert all(0 < len(part) <= 90 for part in parts)
    said = "".join("".join(part.split()) for part in parts).replace("`", "")
    assert said.replace(".", "") == "".join(text.split()).replace(".", "")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("<!-- x -->" * 5000 + "no page", None),
        ("](" * 100_000, None),
        ("# Heading " + " " * 100_000 + "x\n\ntext", "markdown"),
        ("# Heading " + "{" * 10_000 + "\n\ntext", "markdown"),
        ("---\n" + "key: x\n" * 2_000, "markdown"),
        ("a:\n" * 10_000, "rst"),
        (":r:`" + " " * 9_000 + "<x`", "rst"),
        ("\n \t" * 50_000, "text"),
        ("<a" * 2_000, "html"),
        ("<p" + " id" * 50_000 + ">x", "html"),
    ],
)
def test_no_document_takes_more_time_than_its_length_allows(text, form):
    """What makes a pattern try again and again would never end here."""
    if form is None:
        assert guess_format(text) == "markdown"
    else:
        document_sections(text, form)


def test_a_line_without_end_is_refused_in_restructuredtext():
    """Its parser would look at it again and again."""
    with pytest.raises(UnreadableError, match="longer than 10000"):
        document_sections("a:" * 100_000, "rst")
