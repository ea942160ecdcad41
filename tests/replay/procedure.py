"""What to do when a test of this folder fails: told by the test itself, and in full in docs/evolution.md."""

from __future__ import annotations

RECORD = "MEM_RECORD_HISTORIES=1 .venv/bin/pytest tests/replay/record"
BLESS = "MEM_BLESS_FINGERPRINTS=1 .venv/bin/pytest tests/replay/test_fingerprints.py"

PROCEDURE = f"""
The workflows no longer give the commands that runs were recorded with. Those runs may still be open in somebody's
Temporal, where today's code would break them or do something else. (docs/evolution.md tells it in full.)

1. Was it not meant? Take the change back. Summaries, details, timeouts, retries and arguments change no command.
2. Was it meant? Let open runs go on as they began:
       if workflow.patched("what-changed"):   # a name that was never used before
           ...the new commands...
       else:
           ...the old ones, unchanged...
   With that this test is green again, and old histories stay as they are: none is deleted or written over.
3. Record runs of the new kind, which are kept beside the old ones as the next generation (`name.2.json`):
       {RECORD}
4. Enter their commands, and put the patch into the table of docs/evolution.md:
       {BLESS}
   Blessing also takes a change that no patch guards. That is right only where no run of before can be open any more:
   one that is older than its lifetime (mem/domain/ids.py and mem/client.py), and none that is kept for reset or queries
   (the retention of the namespace).
5. A patch goes in two steps, a release each: `workflow.deprecate_patch(name)` and the old branch deleted, once no run
   from before it is open or kept; then that line too, once no run is open or kept from before it was deprecated.
   The histories of before the patch go to tests/replay/histories/retired/, with the release in docs/evolution.md.
"""

NOT_RECORDED = f"""
Today's workflows made a run of this kind whose commands are in no history. Was the change guarded with
`workflow.patched` (docs/evolution.md)? Then record it, beside the old ones:
    {RECORD}
    {BLESS}
"""
