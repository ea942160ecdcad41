"""reStructuredText as sections, with what Sphinx adds, and nothing that a document could reach for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mem.parsing.documents import document_sections

PAGE = """\
:orphan:

.. _a-label:

Install
=======

See :ref:`the guide <a-label>`, :py:func:`~package.module.call` and ``mem up``; |release| is `here <https://x>`_.

.. contents::

.. note:: Mind the *order*
   of steps.

   Second.

.. code-block:: python
   :linenos:
   :caption: hello.py

   def f():
       return "# no heading"

.. fancy-box:: A title
   :shade: dark

   Content **of** it::

       kept   as is

.. versionadded:: 3.2
   The option.

.. py:function:: call(x, y=1)
   :noindex:

   Calls.

   :param x: what

Sub/Section
-----------

* a
* b

  1. nested

term : str
   its meaning

--bee=N  the bees

====  =====
code  means
====  =====
1     no
====  =====

| line one
| line two

.. figure:: x.png
   :alt: a figure

   Its caption.

.. |today| date::

On |today|.

.. toctree::

   other

Install
-------

Again [1]_.

.. [1] A footnote.
"""


def outline(text: str) -> list[tuple[str, str, list[str]]]:
    """Each section as path, anchor and blocks."""
    found = document_sections(text, "rst")
    return [(" > ".join(one.headings), one.anchor, [block.whole() for block in one.blocks]) for one in found]


def test_a_page_is_taken_apart_by_its_headings():
    """Unknown directives keep their content, roles their title, code its lines; navigation is no text."""
    assert outline(PAGE) == [
        (
            "Install",
            "install",
            [
                "See the guide, call and `mem up`; |release| is here.",
                "Note: Mind the order of steps.",
                "Second.",
                '```python\ndef f():\n    return "# no heading"\n```',
                "A title",
                "Content of it:",
                "```\nkept   as is\n```",
                "Added in 3.2: The option.",
                "call(x, y=1)",
                "Calls.",
                "param x: what",
            ],
        ),
        (
            "Install > Sub/Section",
            "sub-section",
            [
                "- a\n- b\n  1. nested",
                "term : str\nits meaning",
                "--bee=N\nthe bees",
                "code | means\n1 | no",
                "line one\nline two",
                "a figure",
                "Its caption.",
                "On .",
            ],
        ),
        ("Install > Install", "id1", ["Again 1.", "[1] A footnote."]),
    ]


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: {file}",
        ".. literalinclude:: {file}",
        ".. csv-table::\n   :file: {file}",
        ".. raw:: html\n   :file: {file}",
        ".. raw:: html\n\n   <b>secret</b>",
        ".. figure:: {file}",
        ".. include:: {file}\n   :literal:",
    ],
)
def test_nothing_is_included_and_nothing_raw_passes(tmp_path, capfd, directive):
    """What a document names is not read, and no complaint about it goes out."""
    file = tmp_path / "other.txt"
    file.write_text("secret", encoding="utf-8")
    text = repr(outline(f"Title\n=====\n\nbefore\n\n{directive.format(file=file)}\n\nafter\n"))
    assert "secret" not in text.replace("<b>secret</b>", "")
    assert "before" in text
    assert "after" in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "broken",
    [
        "*no end",
        "``no end",
        "`ref`_ to nowhere",
        "|substitution|",
        ":unknown:`role`",
        "Bad\n===\n\ntext\n\nUp\n---\n\nOver\n~~~\n\nBack\n---",
        ".. code-block::\n\n   x",
        ".. table:: x\n\n   no table",
        "====  ====\nbad table\n====",
        ".. note::",
        ".. function:: f(\n   :bad option\n",
        "  indented\nnot",
        "Short\n==",
    ],
)
def test_a_faulty_page_is_read_without_a_word(capfd, broken):
    """Mistakes of a document neither stop it nor are told, and the rest of it is there."""
    assert "before" in repr(outline(f"before\n\n{broken}\n\nafter it\n"))
    assert capfd.readouterr() == ("", "")


def test_a_page_is_the_same_on_another_day():
    """No date of today gets into a chunk, or it would be another one tomorrow."""
    assert str(datetime.now(UTC).year) not in repr(outline(".. |d| date:: %Y\n\nOn |d| and\n\n.. date::\n"))


def test_one_page_changes_nothing_for_the_next():
    """Roles and directives of one document are none of another's."""
    first = outline(PAGE)
    outline(".. default-role:: literal\n\n.. role:: custom(strong)\n\n:custom:`x` `y`\n")
    assert outline(PAGE) == first
