"""Markdown as sections: headings, anchors as sites make them, and blocks to the letter."""

from __future__ import annotations

import pytest

from mem.parsing.documents import document_sections

TABLE = "| code | means |\n|------|-------|\n| 1    | no    |"
PAGE = f"""\
---
title: Peers
tags: [npm]
---
Before any heading.

- one

  ```sh
  # no heading
  ```
- two

{TABLE}

<a name="old-name"></a>
## Peer *deps* & `npm ci`!

> # quoted

~~~
## in a fence
~~~

(my-target)=
Setext heading
---

<details><summary>More</summary>

Hidden <b>text</b>.

</details>

***

    indented code

### Same {{#own-id}}
a
## Same
b
## Same
c

<h2 align="center">Raw <code>html</code></h2>

<!-- a comment -->

[ref]: https://example.com

The [ref] is used.
"""


def outline(text: str) -> list[tuple[str, str, list[str]]]:
    """Each section as path, anchor and blocks."""
    found = document_sections(text, "markdown")
    return [(" > ".join(one.headings), one.anchor, [block.whole() for block in one.blocks]) for one in found]


def test_a_page_is_taken_apart_by_its_headings():
    """Front matter names the page; code and tables stay as they are; comments and targets are no text."""
    assert outline(PAGE) == [
        (
            "Peers",
            "",
            ["Before any heading.", "- one\n\n  ```sh\n  # no heading\n  ```\n- two", TABLE],
        ),
        ("Peers > Peer deps & npm ci!", "old-name", ["> # quoted", "~~~\n## in a fence\n~~~"]),
        ("Peers > Setext heading", "my-target", ["More", "Hidden <b>text</b>.", "    indented code"]),
        ("Peers > Setext heading > Same", "own-id", ["a"]),
        ("Peers > Same", "same-1", ["b"]),
        ("Peers > Same", "same-2", ["c"]),
        ("Peers > Raw html", "raw-html", ["The [ref] is used."]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Peer dependencies!", "peer-dependencies"),
        ("`git push --force`", "git-push---force"),
        ("E0308: mismatched types", "e0308-mismatched-types"),
        ("snake_case & C++", "snake_case--c"),
        ("Größe überschreiten", "größe-überschreiten"),
        ("🚀 Start", "-start"),
        ("日本語 テスト", "日本語-テスト"),
        ("A [link](https://example.com/x)", "a-link"),
        ("Own {#the-id}", "the-id"),
        ("Kramdown {: #kram .cls}", "kram"),
        ('Tagged <a id="tag"></a>', "tag"),
        ("Braces {not an id}", "braces-not-an-id"),
    ],
)
def test_an_anchor_is_the_one_of_the_site(heading, anchor):
    """GitHub's rules for a heading without an id, the id where it has one."""
    assert [found for _, found, _ in outline(f"# {heading}\n\ntext\n")] == [anchor]


def test_a_title_in_front_matter_gives_way_to_a_heading():
    """A page that has a first heading is not named twice."""
    assert [path for path, *_ in outline("---\ntitle: Page\n---\n# Real\n\ntext\n")] == ["Real"]
    assert [path for path, *_ in outline('+++\ntitle = "Hugo"\n+++\n\ntext\n')] == ["Hugo"]


@pytest.mark.parametrize(
    "text", ["---\n\ntext\n\n---\n", "---\n- a list\n---\ntext\n", "---\nkey: [\n---\ntext\n", "---\ntext\n"]
)
def test_lines_that_are_no_front_matter_stay(text):
    """A line at the top of a page is often just a line."""
    ((_, _, blocks),) = outline(text)
    assert "text" in "\n".join(blocks) or "a list" in "\n".join(blocks)


def test_a_long_list_is_cut_around_its_code():
    """The code of an item is in one piece, however long the list is."""
    code = "```sh\n" + "\n".join(f"step {number}" for number in range(40)) + "\n  ```"
    items = [
        f"- item {number} {'word ' * 30}\n\n  " + code.replace("\n", "\n  ").replace("    ```", "  ```")
        for number in range(6)
    ]
    ((_, _, blocks),) = outline("\n".join(items) + "\n")
    assert len(blocks) == 6
    assert all(block.count("```") in {0, 2} for block in blocks)
    assert "\n".join(blocks).count("step 39") == 6


def test_deep_nesting_ends():
    """Quotes within quotes without end are read, or left, in bounded time."""
    assert outline(">" * 50_000 + " text")
    assert outline("- " * 5000 + "text")
