"""Reference documents by heading."""

from __future__ import annotations

import pytest

from mem.domain.errors import InvalidRequest
from mem.domain.ids import SHARED
from mem.writing.reference import MAX_CHUNK_CHARACTERS, MAX_TITLE_CHARACTERS, reference_nodes

SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
DOCUMENT = """\
Before any heading.

# npm

## Peer dependencies!

Peers have to agree.

```sh
# this is a comment, not a heading
npm ci --legacy-peer-deps
```

Setext heading
--------------

Underlined.

> # quoted

# Empty
"""


def chunks(text: str, **fields) -> list[tuple[str | None, str]]:
    return [(node.source, node.text) for node in reference_nodes(text, **{"source": "d.md", "project": None, **fields})]


def test_a_document_is_cut_at_its_headings():
    """Each section is a chunk with its path of headings; code and quotes hold no headings; empty sections are none."""
    assert chunks(DOCUMENT) == [
        ("d.md", "Before any heading."),
        (
            "d.md#peer-dependencies",
            (
                "npm > Peer dependencies!\n\nPeers have to agree.\n\n```sh\n# this is a comment, not a heading\n"
                "npm ci --legacy-peer-deps\n```"
            ),
        ),
        ("d.md#setext-heading", "npm > Setext heading\n\nUnderlined.\n\n> # quoted"),
    ]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_make_no_other_chunks(end):
    """A document written elsewhere is cut in the same places."""
    assert chunks(DOCUMENT.replace("\n", end)) == chunks(DOCUMENT)


@pytest.mark.parametrize("text", ["", "\n \n", "# Only\n\n## Headings\n"])
def test_a_document_without_text_has_no_chunks(text):
    """Headings alone tell nothing."""
    assert chunks(text) == []


def test_a_long_section_is_cut_between_paragraphs():
    """Every part bears the heading, none is too long, and together they are the section."""
    paragraphs = [f"{number}" + " word" * 100 for number in range(20)]
    parts = chunks("# Long\n\n" + "\n\n".join(paragraphs))
    bodies = [text.removeprefix("Long\n\n") for _, text in parts]
    assert len(parts) > 1
    assert all(text.startswith("Long\n\n") for _, text in parts)
    assert all(len(body) <= MAX_CHUNK_CHARACTERS for body in bodies)
    assert "\n\n".join(bodies) == "\n\n".join(paragraphs)


def test_a_paragraph_longer_than_a_chunk_is_cut_anyway():
    """A wall of text is kept whole, in pieces."""
    wall = "".join(chr(97 + number % 26) for number in range(MAX_CHUNK_CHARACTERS * 2 + 10))
    assert "".join(text for _, text in chunks(wall)) == wall
    assert all(len(text) <= MAX_CHUNK_CHARACTERS for _, text in chunks(wall))


def test_a_heading_without_end_does_not_swell_its_chunks():
    """The path of headings is cut, the text is not."""
    ((_, text),) = chunks("# " + "h" * 5000 + "\n\nBody.")
    assert text == "h" * MAX_TITLE_CHARACTERS + "\n\nBody."


def test_chunks_are_shared_unless_a_project_owns_them():
    """Without a project every project sees a document; the same document of two owners is two."""
    (shared,) = reference_nodes("text", source="d.md", project=None)
    (owned,) = reference_nodes("text", source="d.md", project="homelab")
    assert (shared.project, owned.project, shared.level) == (SHARED, "homelab", "R")
    assert shared.sha != owned.sha


@pytest.mark.parametrize("project", ["", SHARED, "home lab"])
def test_a_project_of_that_name_cannot_exist(project):
    """Reference is held to the pattern of projects, the name of the shared one included."""
    with pytest.raises(InvalidRequest, match="is no project"):
        reference_nodes("text", source="d.md", project=project)


def test_no_secret_of_a_document_is_kept():
    """Documents are redacted and stripped like everything that is stored."""
    ((_, text),) = chunks(f"Log in with {SECRET}\u202e now.\x00")
    assert text == "Log in with [redacted:github-token] now."
