"""What to do when a test of this folder fails: told by the test itself, and in full in docs/evolution.md."""

from __future__ import annotations

RECORD = "MEM_RECORD_HISTORIES=1 .venv/bin/pytest tests/replay/record"
BLESS = "MEM_BLESS_FINGERPRINTS=1 .venv/bin/pytest tests/replay/test_fingerprints.py"
BOTH = "make histories"

PROCEDURE = f"""
WHAT TO DO (docs/evolution.md tells it in full)

Today's workflows give other commands than runs were recorded with, or histories changed. Such runs may still be open in
somebody's Temporal, where this code would break them.

1. Was it not meant? Take it back. Summaries, details, values of search attributes, timeouts, retry policies and what
   activities are given are not compared, and are free to change.
2. Was it meant? Open runs have to go on as they began:
       if workflow.patched("what-changed"):   # a name that was never used
           ...the new commands...
       else:
           ...the old ones, as they were...
   No recorded run notices that, so that this test is green again. Old histories are never deleted or written over.
3. Runs of the new kind are recorded beside the old ones, as the next generation (NAME.2.json), and entered:
       {BOTH}
   That is: {RECORD}
   and:     {BLESS}
   Then put the patch into the table of docs/evolution.md.
4. The second command alone blesses what you see above. That is right only where no open run can have got there.
5. A patch is taken out in two releases. `workflow.deprecate_patch("what-changed")`, without the old branch, once no run
   from before the patch is open (a run lives 15 days at most) or is still kept by a namespace to be queried or reset
   (its retention). After the same time again that line goes, too. Histories that no longer replay then are moved
   to tests/replay/histories/retired/.
"""

NOT_RECORDED = f"""today's workflows made a run of this kind whose commands are in no history of it.
Was the change guarded with `workflow.patched`? Then record it beside the old ones: {BOTH}
{PROCEDURE}"""
