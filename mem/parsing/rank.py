"""Which candidate is the failure: features that can be read, weights that are data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import log2

from mem.parsing.evidence import LAST_LINES, is_prose
from mem.parsing.page import Candidate, Page, suspects, template_of
from mem.parsing.rules import Ranking, load

CONTEXT = 4
"""How many lines around a block its features may look at."""
_HEADING_ABOVE = 3
_NEAR = 60
_NEAR_BELOW = 7
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
WORDS = (
    "strong", "weak", "lead", "exception", "panic", "e_line", "linker", "testcase", "traceback", "shell_error",
)  # fmt: skip
"""The classes of words that name a failure."""
BLEMISHES = ("warning", "negation", "zero", "summary", "wrapper", "passed", "vague", "identifier")
"""The classes beside which a strong word says less."""
NO_EVENT = ("outer", "quotes", "probe", "tick", "request")
"""The classes of lines that name or wrap something and tell no event of their own."""
JUNK = ("summary", "wrapper", "ruler", "passed", "zero", "vague")
"""The classes of lines that identify nothing."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score and the features that made it."""

    candidate: Candidate
    score: float
    features: dict[str, float]
    echo: int | None = None
    """A line of a command that passed and looks alike: it counts against the candidate."""


@cache
def ranking() -> Ranking:
    """The weights."""
    return load("ranking.toml", Ranking)


class Ranker:
    """Scores the candidates of one page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        commands = page.cleaned.commands
        self.failing = {command.start for command in suspects(page)}
        self.first = min(self.failing, default=None)
        self.passed = {command.start for command in commands if command.status == 0}
        self.junk = page.bit(*JUNK)
        self.word = page.bit(*WORDS)
        weights = [1 if text.strip() else 0 for text in page.lines]
        for line, count in page.cleaned.elided.items():
            weights[line] = count
        self.full = [0, *accumulate(weights)]
        self.contents: dict[int, int] = {}
        self.templates = self._templates_of_passed()
        self.ended: dict[tuple[int, int], int] = {}

    def _templates_of_passed(self) -> dict[str, int]:
        """The shapes of strong lines in commands that passed: noise there is noise elsewhere."""
        strong, cleaned = self.page.names["strong"], self.page.cleaned
        found: dict[str, int] = {}
        for line in self.page.hinted if self.passed else ():
            index = cleaned.command_at(line)
            if index < 0 or cleaned.commands[index].start not in self.passed:
                continue
            if line < cleaned.commands[index].end and self.page.bits[line] & strong:
                found.setdefault(template_of(self.page.lines[line]), line)
        return found

    def _left(self, start: int, end: int) -> int:
        """The lines with content from `start` to `end`; junk is told apart for the next few only."""
        near = min(start + _NEAR, end)
        return self.full[max(end, near)] - self.full[near] + sum(map(self._content, range(start, near)))

    def _content(self, line: int) -> int:
        """How many lines with content `line` stands for: itself unless it is junk, or what was left out there."""
        count = self.contents.get(line)
        if count is None:
            elided = self.page.cleaned.elided.get(line)
            if elided is None:
                elided = int(bool(self.page.lines[line].strip()) and not self.page.bits[line] & self.junk)
            count = self.contents[line] = elided
        return count

    def score(self, candidate: Candidate) -> Scored:
        """`candidate` with its score."""
        features = self._position(candidate)
        features.update(self._words(candidate))
        features.update(self._junk(candidate))
        features.update(self._around(candidate))
        if self._in_hunk(candidate.anchor):
            features["in_hunk"] = 1.0
        weights = ranking().weights
        total = sum(value * weights.get(name, 0.0) for name, value in sorted(features.items()))
        if candidate.rule is not None:
            features["rule_weight"] = candidate.rule.weight
            total += candidate.rule.weight
        echo = self.templates.get(template_of(self.page.lines[candidate.anchor]))
        return Scored(candidate, round(total, 6), features, echo)

    def _position(self, one: Candidate) -> dict[str, float]:
        commands = self.page.cleaned.commands
        if not commands:
            left = self._left(one.end + 1, len(self.page.lines))
            features = {"distance": log2(1 + left), "nothing_left": float(left == 0)}
            return features | self._outcome(one, 0, len(self.page.lines))
        index = self.page.cleaned.command_at(one.anchor)
        if index < 0:
            return {} if one.anchor in self.page.cleaned.red else {"before_commands": 1.0}
        command = commands[index]
        inside = one.anchor < command.end
        end = command.end if inside else len(self.page.lines)
        left = self._left(one.end + 1, end)
        failing = inside and command.start in self.failing
        features = {"distance": log2(1 + left), "nothing_left": float(left == 0)}
        if failing:
            name = "in_first_failing" if command.start == self.first else "in_other_failing"
            features |= {
                name: 1.0,
                "distance_failing": log2(1 + left),
            }
        elif inside and command.status == 0:
            features["in_passed"] = 1.0
        if inside and not command.status:
            features |= self._outcome(one, command.start, command.end)
        elif not inside:
            features |= self._outcome(one, command.end, len(self.page.lines))
        if self.first is not None and not failing and command.start > self.first:
            features["after_failure"] = 1.0
        return features

    def _outcome(self, one: Candidate, start: int, end: int) -> dict[str, float]:
        """Whether the run that holds the block ended by saying that all went well, below the block."""
        if (start, end) not in self.ended:
            self.ended[start, end] = self._last_success(start, end)
        last = self.ended[start, end]
        # What a run writes last is no failure for being last.
        return {"ended_well": 1.0} if last > one.anchor or (last >= 0 and one.kind == "tail") else {}

    def _last_success(self, start: int, end: int) -> int:
        """The line near the end with which a run says that all went well; -1 where something speaks against it."""
        bits, lines = self.page.bits, self.page.lines
        success, counted = self.page.bit("success"), self.page.bit("bad_count")
        against = self.page.bit("strong", "wrapper", "testcase", "shell_error")
        soft = self.page.bit("zero", "passed", "warning", "negation", "identifier", "quotes")
        looked = 0
        for line in range(end - 1, start - 1, -1):
            if not lines[line].strip():
                continue
            if bits[line] & success and not bits[line] & counted:
                above = range(max(start, line - 2 * LAST_LINES), line)
                return -1 if any(bits[number] & counted for number in above) else line
            looked += 1
            if bits[line] & counted or looked > LAST_LINES or (bits[line] & against and not bits[line] & soft):
                break
        return -1

    def _recovered(self, one: Candidate) -> bool:
        """Whether one of the next lines says that the failure was dealt with."""
        bits, recovery = self.page.bits, self.page.names["recovery"]
        if bits[one.end] & recovery or bits[one.anchor] & recovery:
            return one.rule is None
        looked = 0
        for line in range(one.end + 1, min(one.end + 2 * CONTEXT, len(bits))):
            if line in self.page.cleaned.marks or looked == CONTEXT - 1 or bits[line] & self.page.names["ruler"] > 0:
                break
            if self.page.lines[line].strip():
                looked += 1
                if bits[line] & recovery:
                    return True
        return False

    def _words(self, one: Candidate) -> dict[str, float]:
        """What the block's telling line says: the anchor, with its neighbours in the block."""
        if one.rule is not None and one.rule.first:
            # The place makes it a diagnostic; whether it says "missing" or "extra" makes it no worse.
            return {"diagnostic": 1.0}
        names, bits = self.page.names, self.page.bits[one.anchor]
        if one.telling is not None:
            bits |= self.page.bits[one.telling]
        features = {name: 1.0 for name in WORDS if bits & names[name]}
        blemish = self.page.bit(*BLEMISHES)
        if bits & names["strong"] and not bits & blemish:
            features["unblemished"] = 1.0
            if self.page.cleaned.verdict is None and bits & names["reported"] and not bits & names["low_level"]:
                features["reported"] = 1.0
        if bits & names["fileline"]:
            features["fileline"] = 1.0
            if bits & (names["lead"] | names["strong"]) and not bits & names["warning"]:
                features["fileline_error"] = 1.0
        span = range(one.start, one.end + 1)
        if sum(1 for line in span if self.page.bits[line] & names["diff"]) >= 2:
            features["diff"] = 1.0
        if one.rule is None and not any(self.page.bits[line] & self.word for line in span):
            features["no_keyword"] = 1.0
        return features

    def _junk(self, one: Candidate) -> dict[str, float]:
        names, bits = self.page.names, self.page.bits
        span = range(one.start, one.end + 1)
        first = bits[one.anchor]
        size = len(span)
        features: dict[str, float] = {}
        for name in NO_EVENT:
            if first & names[name]:
                features[name] = 1.0
        if one.rule is None and first & names["low_level"]:
            features["low_level"] = 1.0
        if one.rule is None and self.page.cleaned.verdict is None and is_prose(self.page.lines[one.anchor]):
            features["prose"] = 1.0
        full = [line for line in span if self.page.lines[line].strip()]
        if one.rule is None and all(bits[line] & self.junk for line in full):
            features["all_junk"] = 1.0
        if full and all(bits[line] & names["frame"] for line in full):
            features["frames_only"] = 1.0
        if one.rule is None:
            features |= self._blemishes(one, first)
        features["install_share"] = sum(1 for i in span if bits[i] & names["install"]) / size
        if size > 40:
            features["over_40"] = 1.0
        if self.templates and template_of(self.page.lines[one.anchor]) in self.templates:
            features["seen_in_passed"] = 1.0
        return features

    def _in_hunk(self, line: int) -> bool:
        """Whether `line` is the text of a file that a patch shows."""
        lines = self.page.lines
        for number in range(line, max(line - _NEAR, -1), -1):
            if not lines[number].startswith((" ", "+", "-")):
                return number < line and _HUNK.match(lines[number]) is not None
        return False

    def _blemishes(self, one: Candidate, first: int) -> dict[str, float]:
        """What speaks against words alone; a rule has looked at more than words."""
        names, bits = self.page.names, self.page.bits
        features: dict[str, float] = {}
        for feature, name in (
            ("zero", "zero"), ("wrapper_first", "wrapper"), ("summary_first", "summary"),
            ("passed_first", "passed"), ("vague", "vague"), ("negation", "negation"),
            ("usage", "usage"),
        ):  # fmt: skip
            if first & names[name]:
                features[feature] = 1.0
        if first & names["warning"]:
            features["warning"] = 1.0
            below = range(one.start, min(one.end + CONTEXT, len(bits)))
            if any(bits[line] & names["werror"] for line in below):
                features["warning_as_error"] = 1.0
        if first & names["identifier"] and not first & (names["lead"] | names["exception"]):
            features["identifier_only"] = 1.0
        return features

    def _around(self, one: Candidate) -> dict[str, float]:
        names, bits, lines = self.page.names, self.page.bits, self.page.lines
        features = {one.kind: 1.0}
        above = range(max(0, one.start - _HEADING_ABOVE), one.start)
        if any(bits[line] & names["heading"] for line in above):
            features["heading_above"] = 1.0
        for line in range(one.end + 1, min(one.end + CONTEXT, len(lines))):
            if line in self.page.cleaned.marks:
                features["end_below"] = 1.0
                break
            if lines[line].strip():
                if bits[line] & names["wrapper"]:
                    features["wrapper_below"] = 1.0
                elif bits[line] & names["summary"]:
                    features["summary_below"] = 1.0
                break
        below = range(one.end + 1, min(one.end + _NEAR_BELOW, len(bits)))
        if any(bits[line] & names["recovered"] for line in below):
            features["recovered"] = 1.0
        elif self._recovered(one):
            features["recovered_below"] = 1.0
        red = self.page.cleaned.red
        if one.anchor in red:
            features["red"] = 1.0
        span = range(one.start, one.end + 1)
        features["red_share"] = sum(1 for line in span if line in red) / len(span)
        return features
