"""Candidates for failures that no rule knows: lines with an error word, and how a failing command ended."""

from __future__ import annotations

from mem.parsing.page import Candidate, Page, indent_of, mask_of, sampled, suspects

GENERIC_LINES = 4
_BEGINS = (
    "strong", "weak", "lead", "exception", "panic", "e_line", "linker", "testcase",
    "shell_error", "heading", "werror",
)  # fmt: skip
_CLEAR = ("strong", "lead", "exception", "panic", "testcase")
_JUNK = ("summary", "wrapper", "zero", "passed", "ruler", "install")
_STRUCTURE_LINES = 30
_PLACED_LINES = 600
_AS_ERROR_LINES = 30


def may_begin(bits: int) -> bool:
    """Whether a failure may begin with a line of these classes, by its words alone."""
    return bool(bits & mask_of(_BEGINS) and (not bits & mask_of(_JUNK) or bits & mask_of(_CLEAR)))


def by_words(page: Page, claimed: set[int]) -> list[Candidate]:
    """Lines with an error word and what hangs on them, up to four lines unless indented below."""
    told = [line for line in page.hinted if line not in claimed and may_begin(page.bits[line])]
    begins = sorted({*told, *_made_errors(page, told, claimed)})
    found = []
    for line in sampled(page, begins):
        if page.bits[line] & page.names["heading"]:
            end = _free(line, _under_heading(page, line), claimed)
            if end > line:
                found.append(Candidate(line + 1, end, line + 1, "heading"))
            continue
        deep = _free(line, _structure(page, line), claimed)
        if deep > line:
            found.append(Candidate(line, deep, line, "structure"))
        else:
            end = _free(line, _paragraph(page, line), claimed)
            found.append(Candidate(line, line, line, "line"))
            if end > line:
                found.append(Candidate(line, end, line, "paragraph"))
    return found


def _made_errors(page: Page, begins: list[int], claimed: set[int]) -> list[int]:
    """The warnings that a line below says were taken for errors: the nearest above each such line."""
    werror, warning = page.names["werror"], page.bit("warning")
    found = []
    for line in begins:
        if not page.bits[line] & werror or page.bits[line] & warning:
            continue
        for above in range(line - 1, max(line - _AS_ERROR_LINES, -1), -1):
            if above in page.cleaned.marks or above in claimed:
                break
            if page.bits[above] & warning and page.bits[above] & page.names["fileline"]:
                found.append(above)
                break
    return found


def placed(page: Page, claimed: set[int]) -> list[Candidate]:
    """Runs of lines that name a place and say something of it, near the ends of what failed."""
    wanted = page.names["placed"]
    unwanted = page.bit("warning", "passed", "frame", "quotes", "install", "low_level", "request")
    spans = [(one.output + 1, one.end) for one in suspects(page)] or [(0, len(page.lines))]
    found: list[Candidate] = []
    for first, end in spans:
        start: int | None = None
        for line in range(max(first, end - _PLACED_LINES), end + 1):
            bits = page.bits[line] if line < end and line not in claimed else 0
            told = bool(bits & wanted) and not bits & unwanted
            if start is not None and (not told or line - start >= GENERIC_LINES):
                found.append(Candidate(start, line - 1, start, "placed"))
                start = None
            if told and start is None:
                start = line
    return found


def reach_of(page: Page, line: int) -> int:
    """The last line that any candidate of words alone at `line` reaches."""
    if page.bits[line] & page.names["heading"]:
        return _under_heading(page, line)
    return max(_structure(page, line), _paragraph(page, line))


def _free(line: int, end: int, claimed: set[int]) -> int:
    """The last line before one that a rule's block holds."""
    for number in range(line + 1, end + 1):
        if number in claimed:
            return number - 1
    return end


def _ends(page: Page, number: int) -> bool:
    stop = page.bit("summary", "wrapper", "ruler")
    return (
        number >= len(page.lines)
        or number in page.cleaned.marks
        or not page.lines[number].strip()
        or bool(page.bits[number] & stop)
    )


def _structure(page: Page, line: int) -> int:
    deep, end = indent_of(page.lines[line]), line
    frame = page.names["frame"]
    for number in range(line + 1, min(line + _STRUCTURE_LINES, len(page.lines))):
        if _ends(page, number):
            break
        if indent_of(page.lines[number]) > deep or page.bits[number] & frame:
            end = number
        else:
            break
    return end


def _paragraph(page: Page, line: int) -> int:
    deep, end = indent_of(page.lines[line]), line
    passed = page.names["passed"]
    while (
        end - line < GENERIC_LINES - 1
        and not _ends(page, end + 1)
        and not page.bits[end + 1] & passed
        and indent_of(page.lines[end + 1]) >= deep
    ):
        end += 1
    return end


def _under_heading(page: Page, line: int) -> int:
    """The last line under a heading: up to a summary, a ruler or a marker."""
    end = line
    stop = page.bit("summary", "wrapper", "ruler", "heading")
    for number in range(line + 1, min(line + _STRUCTURE_LINES, len(page.lines))):
        if number in page.cleaned.marks or page.bits[number] & stop:
            if end > line or page.lines[number].strip():
                break
            continue
        if page.lines[number].strip():
            end = number
        elif end > line and number - end > 1:
            break
    return end


def _parent(page: Page, line: int, above: int) -> int:
    """The line that an indented one hangs on; `line` itself where it is not indented or nothing is near."""
    deep = indent_of(page.lines[line])
    for number in range(line - 1, max(line - _STRUCTURE_LINES, above), -1) if deep else ():
        text = page.lines[number]
        if not text.strip() or number in page.cleaned.marks:
            break
        if indent_of(text) < deep:
            return number
    return line


def tails(page: Page, claimed: set[int]) -> list[Candidate]:
    """The last lines of a failing command that are no junk: often all there is to see."""
    junk = page.bit("summary", "wrapper", "ruler", "zero", "vague", "heading", "usage")
    found = []
    for command in suspects(page):
        line = command.end - 1
        for _ in range(2):
            while line > command.output and (
                not page.lines[line].strip() or page.bits[line] & junk or line in page.cleaned.marks
            ):
                line -= 1
            if line <= command.output:
                break
            start = line
            while line - start < GENERIC_LINES - 1 and start - 1 > command.output:
                above = start - 1
                if not page.lines[above].strip() or page.bits[above] & junk:
                    break
                start = above
            start = _parent(page, start, command.output)
            if claimed.isdisjoint(range(start, line + 1)):
                found.append(Candidate(start, line, start, "tail"))
            line = start - 1
    return found
