"""The extractive projector: what the evidence shows, what the memory quotes, what the lexicon knows; else nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.domain.accepting import MadeProjection, SymptomLine
from mem.domain.canonical import sha256_hex
from mem.parsing import extract
from mem.parsing.extract import SIGNATURES
from mem.parsing.mask import mask
from mem.ports import EvidenceText
from mem.writing import lexicon as lexicon_module
from mem.writing import projector as module
from mem.writing.lexicon import lexicon
from mem.writing.links import signatures_of
from mem.writing.projector import LIMITS, MODEL_ID, ExtractiveProjector, Limits, derive, rules_sha

NPM = """\
> npm ci
npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR! Found: react@18.2.0
"""
PYTHON = """\
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'
"""
SYSLOG = """\
Apr 21 17:22:44 hooks-1 hookd[770]: INFO started
Apr 21 17:22:45 hooks-1 hookd[770]: OSError: [Errno 24] Too many open files
"""
LESSON = "The nightly job broke after the move because a library had been forgotten. Adding it to the image fixed it."
CLOCK = "Uploads were refused since the clock of the lab box had drifted by half an hour. Enabling chrony fixed it."
CHAT = "ana: I looked at it with Ben and we think that the box in the lab is the one to look at, because it was off."
DECISION = "We agreed to deploy on Tuesdays, and to keep the calendar in the wiki."
SUCCESS = "added 120 packages in 3s\nfound 0 vulnerabilities\nDone in 4.1s.\n"
TEMPTING = [
    "Outbound calls are retried three times with exponential backoff and full jitter. POST is retried only with a key.",
    "We chose Kafka over RabbitMQ after a trial: replay matters more to us than latency.",
    "Errors are logged as JSON with level, message and trace id; error is only for what someone has to act upon.",
    "We avoid deadlocks by taking row locks in ascending id order everywhere.",
    "Each incident of severity 1 gets a blameless postmortem within five days, with a timeline and three actions.",
    "Memory limits equal requests for all services: we prefer a pod that is OOM killed over one that swaps.",
    "A 429 is answered with a Retry-After header in whole seconds, and our own clients honour it.",
    "The on-call acknowledges an alert within five minutes; timeouts escalate to the second person after fifteen.",
    "How to rotate the signing key: publish the new one, wait a day, switch, and remove the old one after a week.",
    "Doubling the workers brought the p95 from 900 ms down to 310 ms.",
    "Internal certificates live 30 days and are renewed after 20; an expired certificate is a severity 2.",
    "Activities get a start-to-close timeout of 60 s, heartbeats every 10 s, and unlimited attempts.",
    "Images are built from the distroless base, run as user 10001 with a read-only root and no shell.",
    "Sign-in is locked for fifteen minutes after ten wrong passwords, with the same message as for an unknown user.",
    "Every query has a statement_timeout by role: 5 s for web, 60 s for jobs, none for migrations.",
    "Workers run with a concurrency of two per core; tasks over the hard limit of an hour are killed and reported.",
]


async def project(*evidence: str) -> str:
    return (await project_from(LESSON, *evidence)).text


async def project_from(text: str, *evidence: str) -> MadeProjection:
    return await ExtractiveProjector().project(text, records(*evidence))


def records(*evidence: str) -> list[EvidenceText]:
    return [EvidenceText(sha256_hex(each), each) for each in evidence]


def entries(made: MadeProjection) -> set[str]:
    return {line.entry for line in made.lines if line.entry is not None}


async def test_the_failure_lines_of_the_evidence_are_quoted_with_their_place():
    """The error and its message are in the projection, each with the record and the line that it stands in."""
    made = await project_from(LESSON, SUCCESS, NPM)
    shown = [line for line in made.lines if line.origin == "evidence"]
    assert "npm ERR! code ERESOLVE" in [line.text for line in shown]
    for line in shown:
        assert line.evidence_sha == sha256_hex(NPM)
        assert NPM.split("\n")[line.line - 1].strip() == line.text
    assert "> npm ci" not in made.text


async def test_a_line_is_quoted_without_what_its_logger_set_around_it():
    """Times, hosts and process ids are no symptom; the line number is that of the stored text."""
    made = await project_from(LESSON, SYSLOG)
    assert made.lines[0] == SymptomLine(
        text="OSError: [Errno 24] Too many open files", origin="evidence", evidence_sha=sha256_hex(SYSLOG), line=2
    )


async def test_what_the_evidence_shows_is_widened_by_how_it_looks_elsewhere():
    """The same failure is told by other tools in other words; these come last and name their entry."""
    made = await project_from(LESSON, SYSLOG)
    assert "fd.too-many-open" in entries(made)
    origins = [line.origin for line in made.lines]
    assert origins == sorted(origins, key=["evidence", "memory", "lexicon"].index)


async def test_prose_alone_leads_to_how_it_looks():
    """Without evidence that shows it, the lexicon names the errors that the cause leads to."""
    made = await project_from(CLOCK, CHAT)
    assert entries(made) == {"time.clock-skew"}
    assert made.lines[0].text.startswith("RequestTimeTooSkewed")


async def test_what_the_memory_quotes_is_a_symptom():
    """Messages in marks, codes, statuses and exceptions are taken from the memory."""
    text = "It failed with `connection refused by peer` and a 503, then a KeyError; `fail_fast=true` was the cause."
    made = await project_from(text)
    quoted = [line.text for line in made.lines if line.origin == "memory"]
    assert quoted == ["connection refused by peer", "503 Service Unavailable", "KeyError"]


@pytest.mark.parametrize("text", [LESSON, CLOCK])
async def test_the_prose_of_a_memory_is_never_copied(text):
    """No four words of the memory stand in a row in its symptom: the text vector has them already."""
    made = (await project_from(text, CHAT, NPM)).text.lower()
    words = text.lower().split()
    assert made
    assert not [run for run in zip(words, words[1:], words[2:], words[3:], strict=False) if " ".join(run) in made]


@pytest.mark.parametrize("text", TEMPTING)
@pytest.mark.parametrize("evidence", [(), (DECISION,), (SUCCESS,)])
async def test_a_memory_without_a_failure_has_no_symptom(text, evidence):
    """A decision, a convention, a plan or a how-to gets none, however many words of failure it uses."""
    assert (await project_from(text, *evidence)).lines == []


def test_hardly_a_memory_without_a_failure_gets_a_symptom():
    """Of many tempting decisions, at most one in twenty-five leads to something that never struck."""
    lines = Path("tests/fixtures/no_failures.txt").read_text("utf-8").splitlines()
    texts = [line for line in lines if not line.startswith("#")]
    invented = [text for text in texts if derive(text, [])]
    assert len(texts) >= 70
    assert len(invented) <= len(texts) / 25


@pytest.mark.parametrize("evidence", [(), ("",), (DECISION,), (SUCCESS,), (DECISION, SUCCESS)])
async def test_evidence_without_a_failure_is_not_quoted(evidence):
    """Talk and success are no symptom, even of a memory that tells of a failure."""
    made = await project_from(LESSON, *evidence)
    assert [line for line in made.lines if line.origin == "evidence"] == []


async def test_talk_that_quotes_a_failure_is_not_quoted():
    """What people say of a failure is no output of it, even where they name it."""
    chat = (
        "Olu: what about the errors on the consumer side, who looks at them?\nMara: the other team does, it is theirs."
    )
    made = await project_from(LESSON, chat)
    assert [line for line in made.lines if line.origin == "evidence"] == []


async def test_evidence_decides_where_the_memory_hardly_says_that_something_failed():
    """What a tool's rule or the lexicon knows is quoted then; what only has the words of failure is not."""
    terse = "Invoices are altered in one file and created in the next one, which comes behind it."
    log = (
        '$ psql -f 0042.sql\npsql:0042.sql:2: ERROR:  relation "invoices" does not exist\nmake: *** [migrate] Error 3\n'
    )
    assert "ERROR: relation" in (await project_from(terse, log)).text
    assert (await project_from(terse, "quuxd: cannot attach the quux: unexpected failure\n")).lines == []


async def test_an_entry_adds_what_says_most_of_the_recognised_line():
    """Other looks of the same entry stay out."""
    log = "Error: getaddrinfo ENOTFOUND depot.example\n"
    added = [line.text for line in (await project_from(LESSON, log)).lines if line.origin == "lexicon"]
    assert 0 < len(added) <= LIMITS.recognised.entry_lines
    assert "ENOTFOUND" in added[0]


async def test_the_bare_end_of_an_output_stands_behind_what_the_lexicon_knows():
    """A table says less than how such a cause looks."""
    table = "NAME   REVISION  STATUS\nshop   62        deployed\nThe command 'list' exited with 3.\n"
    origins = [line.origin for line in (await project_from(CLOCK, table)).lines]
    assert origins[0] == "lexicon"
    assert origins[-1] == "evidence"


async def test_a_rule_is_not_made_a_failure_by_its_evidence():
    """Evidence of a decision that shows a failing line is not what the decision is about."""
    assert (await project_from(TEMPTING[4], NPM)).lines == []


async def test_output_that_failed_without_a_clear_line_is_quoted_from_its_end():
    """Where nothing stands out, the end of what failed is better than nothing."""
    log = (
        "$ ./deploy web-7f9c\npreparing 3 hosts\nhost 10.0.0.7 wants attention\nThe command './deploy' exited with 3.\n"
    )
    made = await project_from(LESSON, log)
    assert "host 10.0.0.7 wants attention" in [line.text for line in made.lines if line.origin == "evidence"]


async def test_the_best_of_each_record_comes_before_the_rest_of_any():
    """Two failing records both lead, whatever else the first one holds."""
    first = "acme.QuuxError: the quux is bent\n\ndone with the first\n\nacme.FrobError: the frob is bent\n"
    second = "acme.GrueError: the grue is bent\n"
    lines = (await project_from(LESSON, first, second)).lines
    assert [line.evidence_sha for line in lines if "bent" in line.text] == [
        sha256_hex(first), sha256_hex(second), sha256_hex(first),
    ]  # fmt: skip


async def test_a_line_that_nobody_knows_is_quoted_without_its_logger_too():
    """The lexicon need not know a message for its time and host to be left out."""
    made = await project_from(LESSON, "Apr 21 17:22:45 web-1 acmed[770]: acme.QuuxError: the quux is bent\n")
    assert made.lines[0].text == "acme.QuuxError: the quux is bent"


async def test_a_repeated_record_adds_nothing():
    """The same evidence twice is the same symptom."""
    assert await project(PYTHON, NPM, PYTHON) == await project(PYTHON, NPM)


async def test_a_projection_is_bounded():
    """However many records fail, the projection stays a text that an embedder reads to its end."""
    many = [PYTHON.replace("yaml", f"package_{chr(97 + number // 26)}{chr(97 + number % 26)}") for number in range(60)]
    made = await project_from(LESSON, *many)
    assert 0 < len(made.text.split()) <= LIMITS.words
    wordy = [f"error: {chr(97 + number)} cannot be opened " + "path " * 500 for number in range(20)]
    few = derive(LESSON, records(*wordy), LIMITS._replace(words=40))
    assert sum(len(line.text.split()) for line in few) == 40
    long = await project_from(LESSON, "error: cannot open " + "path " * 500)
    assert max(len(line.text.split()) for line in long.lines) <= LIMITS.line_words


async def test_no_secret_is_quoted():
    """Evidence that slipped by a door with a secret in a failure line does not carry it into the symptom."""
    secret = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
    told = await project(f"npm ERR! code E401\nnpm ERR! Unable to authenticate with {secret}\n")
    assert "E401" in told
    assert secret not in told
    told = await project(f"curl: (60) SSL certificate problem: unable to get local issuer certificate ({secret})\n")
    assert "SSL certificate problem" in told
    assert secret not in told


@settings(deadline=None)
@given(
    st.sampled_from([LESSON, CLOCK, DECISION, *TEMPTING]),
    st.lists(st.sampled_from([NPM, PYTHON, SYSLOG, CHAT, SUCCESS])),
)
def test_the_same_memory_gives_the_same_lines(text, evidence):
    """Derived twice, a projection is equal byte for byte."""
    assert derive(text, records(*evidence)) == derive(text, records(*evidence))


@settings(deadline=None)
@given(st.permutations([NPM, PYTHON, SYSLOG, SUCCESS]))
def test_the_order_of_the_evidence_decides_no_line_where_all_fit(evidence):
    """The set of evidence lines is that of the records, not of their order."""
    roomy = Limits(words=1000, evidence_blocks=100)
    wanted = {line.text for line in derive(LESSON, records(NPM, PYTHON, SYSLOG, SUCCESS), roomy)}
    assert {line.text for line in derive(LESSON, records(*evidence), roomy)} == wanted


@settings(deadline=None)
@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_any_memory_and_evidence_can_be_read(text, evidence):
    """No text breaks the projector, and each line is one line within the limits."""
    for line in derive(text, records(*evidence)):
        assert line.text.strip()
        assert "\n" not in line.text


def test_masking_what_is_masked_changes_nothing():
    """The masked end of an output stays as it is when masked again."""
    for entry in lexicon().entries:
        for line in entry.shows:
            assert mask(mask(line)) == mask(line)


async def test_the_prompt_sha_is_that_of_the_rules(tmp_path, monkeypatch):
    """A changed, added or renamed rule file is another prompt; another reading of the same rules is not."""
    assert ExtractiveProjector().key().model_id == MODEL_ID
    now = sha_of_folder()
    assert sha_of_folder() == now
    folder = tmp_path / "rules"
    folder.mkdir()
    for path in Path("mem/parsing/rules").glob("*.toml"):
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(module, "files", lambda _: tmp_path)
    assert sha_of_folder() == now
    (folder / "npm.toml").write_text((folder / "npm.toml").read_text("utf-8") + "# more\n", encoding="utf-8")
    changed = sha_of_folder()
    (folder / "npm.toml").rename(folder / "npx.toml")
    renamed = sha_of_folder()
    (folder / "notes.txt").write_text("no rule", encoding="utf-8")
    assert len({now, changed, renamed}) == 3
    assert sha_of_folder() == renamed
    rules_sha.cache_clear()


@pytest.mark.parametrize("part", ["packaged", "packaged_rules", "packaged_statements"])
async def test_lexicon_and_cues_are_part_of_the_prompt(monkeypatch, part):
    """What the texts depend on beside the parser's rules changes the prompt, too."""
    now = sha_of_folder()
    monkeypatch.setattr(module, part, lambda: {"other.toml": "version = 1"})
    assert sha_of_folder() != now
    rules_sha.cache_clear()
    assert "http.toml" in lexicon_module.packaged()


async def test_the_limits_are_part_of_the_prompt():
    """Another number of lines gives other texts, so it is another prompt."""
    other = LIMITS._replace(words=LIMITS.words + 1)
    assert ExtractiveProjector(other).key() != ExtractiveProjector().key()


def sha_of_folder() -> str:
    rules_sha.cache_clear()
    return ExtractiveProjector().key().prompt_sha


def test_a_memory_answers_to_each_failure_of_its_evidence_once():
    """Signatures come in the order of the evidence, a repeated one at its first place."""
    linked = signatures_of([PYTHON, NPM, PYTHON])
    assert [each.sig_sha for each in linked] == [extract(PYTHON)[0].sig_sha, extract(NPM)[0].sig_sha]


def test_evidence_without_a_failure_links_nothing():
    """A decision is found by no signature."""
    assert signatures_of([DECISION, SUCCESS]) == []


def test_one_record_links_its_best_failures_alone():
    """A log with many failures gives no more than a handful of keys."""
    log = "\n".join(PYTHON.replace("yaml", f"package_{chr(97 + number)}") for number in range(20))
    assert len(signatures_of([log])) == SIGNATURES


KILLED = "Last State: Terminated\n  Reason: OOMKilled\n  Exit Code: 137\n"


async def test_a_terse_lesson_beside_a_failure_is_projected():
    """A lesson of a few words says little by itself; what its evidence shows counts, for nothing speaks against it."""
    assert (
        "OOMKilled" in (await project_from("Give the importer 2 GiB; 512 MiB is too little for the file.", KILLED)).text
    )


async def test_a_rule_beside_a_failure_is_not_projected():
    """What is plainly a rule or a choice explains no failure, whatever output is attached to it."""
    rule = "As a policy, every team should review memory limits quarterly, and we agreed on the owners of each service."
    assert (await project_from(rule, KILLED)).lines == []
