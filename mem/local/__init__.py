"""The embedded stack: Postgres, the Temporal dev server, the worker and the gateway as one thing to start and stop.

A supervisor process starts the parts in order, keeps them running and stops them in reverse order. It describes them
in stack.json, from which everything else finds its way.
"""

from mem.local.cleanup import remove_data, stop_stack
from mem.local.detached import running_stack, start_detached
from mem.local.options import PartSpec, StackOptions, app_parts
from mem.local.stack_file import StackFile, StackHome, TemporalAddress
from mem.local.status import PartStatus, StackStatus, stack_status
from mem.local.supervisor import supervise

__all__ = [
    "PartSpec",
    "PartStatus",
    "StackFile",
    "StackHome",
    "StackOptions",
    "StackStatus",
    "TemporalAddress",
    "app_parts",
    "remove_data",
    "running_stack",
    "stack_status",
    "start_detached",
    "stop_stack",
    "supervise",
]
