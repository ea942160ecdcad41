"""Deterministic fakes of the ports, in memory: for this project's tests and for those of its users.

```python
state = FakeState()
memories, failures, ledger = FakeMemories(state), FakeFailures(state), FakeLedger(state)
```
"""

from mem.testing.failures import FakeFailures, FakeLedger
from mem.testing.memories import FakeMemories
from mem.testing.models import FakeEmbedder, FakeProjector, FakeReranker, FakeTokens
from mem.testing.reference import FakeReference
from mem.testing.replaying import replayed
from mem.testing.showing import FakeShowing
from mem.testing.skills import FakeSkills
from mem.testing.state import FakeClock, FakeJournal, FakeState
from mem.testing.users import FakeUsers

__all__ = [
    "FakeClock",
    "FakeEmbedder",
    "FakeFailures",
    "FakeJournal",
    "FakeLedger",
    "FakeMemories",
    "FakeProjector",
    "FakeReference",
    "FakeReranker",
    "FakeShowing",
    "FakeSkills",
    "FakeState",
    "FakeTokens",
    "FakeUsers",
    "replayed",
]
