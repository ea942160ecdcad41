"""What the use cases need from the outside, as protocols. Every method is safe to repeat."""

from mem.ports.failures import CoarseHit, Failures, GapQuery, GapsFound, Known, KnownHit, Seen
from mem.ports.journal import Journal
from mem.ports.ledger import Ledger, LedgerKey, Settlement
from mem.ports.memories import Alike, Appended, AppendPlan, Lineage, Memories, Reach, Superseded, VectorHit, WordHit
from mem.ports.models import (
    Candidate,
    Clock,
    Controller,
    Embedder,
    EvidenceText,
    Fault,
    Fit,
    Projector,
    ProjectorKey,
    Prompt,
    Reranker,
    RerankQuery,
    TokenCounter,
    Vector,
)
from mem.ports.proposals import Proposals
from mem.ports.rebuilding import Rebuilding
from mem.ports.reference import Document, DocumentChange, HeldDocument, Reference
from mem.ports.showing import Showing, ShowQuery
from mem.ports.skills import ListedSkill, Skill, Skills
from mem.ports.users import Audience, KnownUser, Neighbour, Remembered, SnapshotEntry, Users

__all__ = [
    "Alike",
    "AppendPlan",
    "Appended",
    "Audience",
    "Candidate",
    "Clock",
    "CoarseHit",
    "Controller",
    "Document",
    "DocumentChange",
    "Embedder",
    "EvidenceText",
    "Failures",
    "Fault",
    "Fit",
    "GapQuery",
    "GapsFound",
    "HeldDocument",
    "Journal",
    "Known",
    "KnownHit",
    "KnownUser",
    "Ledger",
    "LedgerKey",
    "Lineage",
    "ListedSkill",
    "Memories",
    "Neighbour",
    "Projector",
    "ProjectorKey",
    "Prompt",
    "Proposals",
    "Reach",
    "Rebuilding",
    "Reference",
    "Remembered",
    "RerankQuery",
    "Reranker",
    "Seen",
    "Settlement",
    "ShowQuery",
    "Showing",
    "Skill",
    "Skills",
    "SnapshotEntry",
    "Superseded",
    "TokenCounter",
    "Users",
    "Vector",
    "VectorHit",
    "WordHit",
]
