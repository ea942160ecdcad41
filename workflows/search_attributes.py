"""The search attributes by which runs are found in the Temporal UI."""

from __future__ import annotations

from temporalio.common import SearchAttributeKey

MAX_SIGNATURES = 20
"""A search attribute holds 2 KB; twenty signatures of 64 digits fit, and the details of the run list the rest."""

MEM_PROJECT = SearchAttributeKey.for_keyword("MemProject")
MEM_TOOL = SearchAttributeKey.for_keyword("MemTool")
MEM_TIER = SearchAttributeKey.for_keyword("MemTier")
MEM_OUTCOME = SearchAttributeKey.for_keyword("MemOutcome")
MEM_SIGNATURE = SearchAttributeKey.for_keyword_list("MemSignature")
MEM_DEGRADED = SearchAttributeKey.for_keyword_list("MemDegraded")
