"""Roles and directives that docutils does not know: those of Sphinx, and whatever else a document names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles, states
from docutils.parsers.rst.languages import en

from mem.parsing.documents.names import names

_NAMED = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w+.:-]+?)[ \t]?::(?=[ \t\n]|$)", re.MULTILINE)
_ROLE_NAME = r"[\w+.-]{1,60}(?::[\w+.-]{1,60}){0,3}"
_ROLE = re.compile(rf"(?<=:)(?P<before>{_ROLE_NAME})(?=:`)|(?<=`:)(?P<behind>{_ROLE_NAME})(?=:)")

_CHANGES = {
    "deprecated": "Deprecated since",
    "versionadded": "Added in",
    "versionchanged": "Changed in",
    "versionremoved": "Removed in",
}


class _AnyOption(dict[str, Callable[[str], Any]]):
    """Every option is known, and none is looked at; never empty, or docutils would read no options at all."""

    def __init__(self) -> None:
        super().__init__({"class": str})

    def __missing__(self, name: str) -> Callable[[str], Any]:
        return str


class _Tolerant(Directive):
    """Whatever a directive says: its argument, then its content as any other text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]] | None] = _AnyOption()

    def run(self) -> list[nodes.Node]:
        """The nodes in its place."""
        if isinstance(self.state, states.SubstitutionDef):
            return [nodes.Text(" ".join(self.arguments))]
        told = " ".join(" ".join(self.arguments).split())
        if self.name.lower() in _CHANGES:
            version, _, what = told.partition(" ")
            told = f"{_CHANGES[self.name.lower()]} {version}: {what}".strip()
        group = nodes.container()
        if told:
            group += nodes.paragraph(told, told)
        self.state.nested_parse(self.content, self.content_offset, group, match_titles=False)
        return [group]


class _Code(_Tolerant):
    """Code to the letter."""

    def run(self) -> list[nodes.Node]:
        """The code, with its language where it is a word."""
        text = "\n".join(self.content)
        block = nodes.literal_block(text, text)
        language = self.arguments[0] if self.arguments else ""
        block["language"] = language if re.fullmatch(r"[\w+#.-]+", language) else ""
        return [block]


class _Dropped(_Tolerant):
    """Nothing."""

    def run(self) -> list[nodes.Node]:
        """No nodes; where a substitution stands for it, an empty text."""
        return [nodes.Text("")] if isinstance(self.state, states.SubstitutionDef) else []


def know_names(text: str) -> None:
    """Let docutils know every directive and every role that a text names.

    A directive is read by its content, as code, or as nothing; a role as its text.
    """
    for name in {(before or behind).lower() for before, behind in _ROLE.findall(text)}:
        if name not in en.roles:
            roles.register_local_role(name, _role)
    for name in {found.lower() for found in _NAMED.findall(text)}:
        base = name.rpartition(":")[2]
        if name in names("rst", "left_out"):
            directives.register_directive(name, _Dropped)
        elif base in names("rst", "code"):
            directives.register_directive(name, _Code)
        elif name not in en.directives:
            directives.register_directive(name, _Tolerant)


def _role(
    name: str, rawtext: str, text: str, lineno: int, inliner: states.Inliner,
    options: Mapping[str, Any] = MappingProxyType({}), content: Sequence[str] = (),
) -> tuple[Sequence[Any], Sequence[Any]]:  # fmt: skip
    """The nodes of a role: its title, where it has one beside its target."""
    del name, lineno, inliner, options, content
    plain = nodes.unescape(text)
    title, mark, _ = plain.rpartition("<") if plain.endswith(">") else ("", "", "")
    shown = title.rstrip() if mark and title.strip() else _last(plain) if plain.startswith("~") else plain.lstrip("!")
    return [nodes.inline(rawtext, shown)], []


def _last(target: str) -> str:
    """As Sphinx shows a name that is to be short."""
    return target.lstrip("~").rpartition(".")[2]
