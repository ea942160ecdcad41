"""Which sentences of a model the memories bear out."""

from __future__ import annotations

import pytest

from mem.recall.grounded import supported
from tests.hostile import ordinary

MEMORIES = {
    "photos": "Photos of the new phones have 6 to 9 MB and were turned away by the ingress, whose client_max_body_size "
    "is one megabyte unless told otherwise. Raise proxy-body-size to 20m on the photo path.",
    "redis": "Redis 7 needs TLS on port 6380. The old clients do not support it, so pin redis-py to 4.5.",
    "backup": "Never run the migration before the backup has finished; the nightly job takes 40 minutes.",
    "pnpm": "Use pnpm instead of npm in the web workspace, since npm ignores the overrides there.",
    "pool": "The connection pool has 20 connections and a timeout of 5 seconds.",
    "cache": "The cache is safe to delete. Deploys happen on Tuesdays only.",
    "pooler": "Postgres 15 listens on 6432 behind the pooler.",
    "heap": "Set the heap to 4 GB for the indexer, the default of 1 GB ran out of memory.",
    "flag": "Enable `ff.new-cart` for staging alone. Production keeps the old cart until the audit in May is over.",
    "owner": "Ada owns the billing service, and Grace reviews its migrations.",
    "cjk": "缓存已满时构建会失败。清空缓存后恢复正常。",
}

SUPPORTED = [
    ("The ingress turned away photos of the new phones.", "photos"),
    ("Photos of the new phones were rejected by the ingress.", "photos"),
    ("The ingress rejected photos of 6 to 9 MB from the new phones.", "photos"),
    ("Raise proxy-body-size to 20m for the photo path.", "photos"),
    ("Increase proxy-body-size to 20m on the photo path.", "photos"),
    ("proxy-body-size has to be raised to 20m on the photo path.", "photos"),
    ("client_max_body_size is one megabyte unless told otherwise.", "photos"),
    ("Redis 7 requires TLS on port 6380.", "redis"),
    ("TLS is required by Redis 7 on port 6380.", "redis"),
    ("Old clients do not support TLS with Redis 7, so pin redis-py to 4.5.", "redis"),
    ("redis-py should be pinned to 4.5 because the old clients do not support it.", "redis"),
    ("Old clients don't support it.", "redis"),
    ("Do not run the migration before the backup has finished.", "backup"),
    ("The migration must never be run before the backup has finished.", "backup"),
    ("The nightly job takes 40 minutes.", "backup"),
    ("The nightly job takes 40 min.", "backup"),
    ("Use pnpm, not npm, in the web workspace.", "pnpm"),
    ("In the web workspace pnpm is used instead of npm.", "pnpm"),
    ("Use pnpm rather than npm in the web workspace.", "pnpm"),
    ("npm ignores the overrides in the web workspace.", "pnpm"),
    ("The pool has 20 connections and a 5 second timeout.", "pool"),
    ("It is safe to delete the cache.", "cache"),
    ("Deploys only happen on Tuesdays.", "cache"),
    ("The indexer ran out of memory with the default of 1 GB, so set the heap to 4 GB.", "heap"),
    ("The heap for the indexer needs to be 4 GB.", "heap"),
    ("Enable `ff.new-cart` only for staging.", "flag"),
    ("Production keeps the old cart until the audit in May.", "flag"),
    ("Ada owns the billing service.", "owner"),
    ("缓存已满时构建会失败。", "cjk"),
]
TOGETHER = [
    ("Redis 7 needs TLS on port 6380, and Postgres 15 listens on 6432.", "redis", "pooler"),
    ("Postgres 15 listens on 6432; the connection pool has 20 connections.", "pooler", "pool"),
    ("The cache is safe to delete. Ada owns the billing service.", "cache", "owner"),
]
UNSUPPORTED = [
    # numbers
    ("Raise proxy-body-size to 30m on the photo path.", "photos"),
    ("client_max_body_size is one gigabyte.", "photos"),
    ("Pin redis-py to 5.4.", "redis"),
    ("The nightly job takes 40 seconds.", "backup"),
    ("The pool has 5 connections and a timeout of 20 seconds.", "pool"),
    ("Set the heap to 1 GB for the indexer.", "heap"),
    ("The heap of 4 GB ran out of memory.", "heap"),
    ("Redis 6 needs TLS on port 6380.", "redis"),
    ("Redis needs TLS since version 3.", "redis"),
    # negation and what narrows
    ("Redis 7 does not need TLS on port 6380.", "redis"),
    ("The old clients support it.", "redis"),
    ("Run the migration before the backup has finished.", "backup"),
    ("The cache is not safe to delete.", "cache"),
    ("The cache is unsafe to delete.", "cache"),
    ("Only the cache is safe to delete.", "cache"),
    ("npm does not ignore the overrides in the web workspace.", "pnpm"),
    ("Production no longer keeps the old cart.", "flag"),
    # directions and order
    ("Lower proxy-body-size to 20m on the photo path.", "photos"),
    ("Disable `ff.new-cart` for staging alone.", "flag"),
    ("Never run the migration after the backup has finished.", "backup"),
    ("Use npm instead of pnpm in the web workspace.", "pnpm"),
    # names
    ("The ingress turned away photos of the old phones.", "photos"),
    ("Use yarn instead of npm in the web workspace.", "pnpm"),
    ("Kafka 7 needs TLS on port 6380.", "redis"),
    ("Pin ioredis to 4.5.", "redis"),
    ("According to Alice the nightly job takes 40 minutes.", "backup"),
    ("Deploys happen on Fridays only.", "cache"),
    ("Set FOO_BAR=1 for the indexer.", "heap"),
    ("Enable `ff.old-cart` for staging alone.", "flag"),
    ("Grace owns the shipping service.", "owner"),
    ("Ada owns the billing service since 2019.", "owner"),
    ("Set the heap to 4 GB for the indexer in eu-west-1.", "heap"),
    # what nobody said
    ("The user prefers dark mode.", "cache"),
    ("This is a known bug of the driver.", "redis"),
    ("Everything works fine now.", "cache"),
    ("Restart the host.", "heap"),
    ("It is important to note that it is so.", "heap"),
    ("缓存未满时构建不会失败。", "cjk"),
    ("", "heap"),
    ("...", "heap"),
]
MERGED = [
    ("Redis 7 needs TLS on port 6432.", "redis", "pooler"),
    ("Redis 7 listens on 6432 behind the pooler.", "redis", "pooler"),
    ("Postgres 15 needs TLS on port 6380.", "redis", "pooler"),
    ("The pooler has 20 connections behind Postgres 15.", "pool", "pooler"),
    ("The cache runs out of memory with the default of 1 GB.", "cache", "heap"),
    ("Deploys happen before the backup has finished.", "cache", "backup"),
    ("Ada owns the cache.", "owner", "cache"),
]


@pytest.mark.parametrize(("text", "name"), SUPPORTED)
def test_a_faithful_wording_survives(text, name):
    """Inflection, order, passives, fillers and daily synonyms are no inventions."""
    assert supported(text, [MEMORIES[name]])


@pytest.mark.parametrize(("text", "one", "other"), TOGETHER)
def test_a_sentence_may_tell_of_several_memories(text, one, other):
    """Each clause is borne out by a memory of its own."""
    assert supported(text, [MEMORIES[one], MEMORIES[other]])
    assert not supported(text, [MEMORIES[one]])
    assert not supported(text, [MEMORIES[other]])


@pytest.mark.parametrize(("text", "name"), UNSUPPORTED)
def test_what_the_memory_does_not_say_is_dropped(text, name):
    """Other numbers, turned negations and directions, new names and new claims are not borne out."""
    assert not supported(text, [MEMORIES[name]])


@pytest.mark.parametrize(("text", "one", "other"), MERGED)
def test_two_memories_are_not_merged_into_a_new_fact(text, one, other):
    """No clause takes its subject from one memory and its claim from another."""
    assert not supported(text, [MEMORIES[one], MEMORIES[other]])


def test_every_lesson_bears_itself_out():
    """Whatever is quoted letter by letter stands."""
    assert [text for text in ordinary() if not supported(text, [text])] == []


def test_a_lesson_is_not_borne_out_by_the_others():
    """Lessons of one trade share many words; none bears out another one."""
    few = ordinary()[100:180]
    wrong = [text for at, text in enumerate(few) if supported(text, [*few[:at], *few[at + 1 :]])]
    assert wrong == []
