"""`mem signature extract`: what identifies the failure in a log."""

from __future__ import annotations

from typing import Annotated

import typer

from mem.cli.common import LineFormat, OutputFormat, add_noun, complain, explained, read_bytes, show, tell
from mem.domain.signatures import Explanation, Extraction

_CANDIDATES = 20


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    add_noun(app, "signature", "What identifies a failure.").command()(extract)


def extract(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Logs; - for standard input.")],
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=40, help="At most so many signatures an input.")] = 5,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every candidate, its score and what made it.")
    ] = False,
    output: LineFormat = OutputFormat.TEXT,
) -> None:
    """Extract failure signatures, best first; with --format json one object for each log."""
    from mem.parsing import explain_source, extract_source  # noqa: PLC0415 - loads all rules

    for file in files:
        with explained():
            extraction = (explain_source if explain else extract_source)(file, read_bytes(file), limit=limit)
        if output is OutputFormat.JSON:
            show(extraction.model_dump_json())
        else:
            _tell(extraction)


def _tell(extraction: Extraction) -> None:
    if not extraction.signatures:
        complain(f"{extraction.source}: no failure found in {extraction.lines} lines")
    for signature in extraction.signatures:
        place = f"{extraction.source}:{signature.line_start}-{signature.line_end}"
        tell(f"{signature.sig_sha[:12]}  {signature.tool:<10} {signature.rule:<24} {place}")
        tell(f"    {signature.message.splitlines()[0][:110] if signature.message else ''}")
    if isinstance(extraction, Explanation):
        _explain(extraction)


def _explain(explanation: Explanation) -> None:
    """The candidates as a table, the strongest reasons of each below it."""
    tell(f"\n{len(explanation.candidates)} candidates, best first")
    for one in explanation.candidates[:_CANDIDATES]:
        reasons = sorted(one.features.items(), key=lambda item: (-abs(item[1]), item[0]))
        tell(f"  {one.score:7.2f}  {one.line_start}-{one.line_end}  {one.rule} ({one.kind}): {one.fate}")
        tell("           " + " ".join(f"{name} {value:+.2f}" for name, value in reasons))
    left = len(explanation.candidates) - _CANDIDATES
    if left > 0:
        tell(f"  … and {left} more; --format json shows all")
