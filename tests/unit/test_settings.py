"""Settings from the environment."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from mem.addresses import find_addresses
from mem.local.plan import _app_env
from mem.local.stack_file import StackFile, TemporalAddress
from mem.recall.legs import LEG_SECONDS
from mem.settings import Settings

MODELS = {
    "MEM_CHAT_MODEL": "chat-1",
    "MEM_EMBEDDING_MODEL": "vectors-1",
    "MEM_EMBEDDING_DIMENSIONS": "1536",
    "OPENAI_API_KEY": "sk-test",
    "OPENAI_BASE_URL": "http://127.0.0.1:8080/v1",
    "MEM_RERANK_URL": "http://127.0.0.1:8081/rerank",
    "MEM_RERANK_MODEL": "scores-1",
    "MEM_RERANK_KEY": "sk-rerank",
    "MEM_RERANK_SECONDS": "1.5",
}


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    for name in MODELS:
        monkeypatch.delenv(name, raising=False)


def test_nothing_set_means_offline():
    """Without settings no model is asked."""
    settings = Settings()
    assert (settings.chat_model, settings.embedding_model, settings.openai_api_key) == (None, None, None)


def test_models_go_by_their_own_names(monkeypatch):
    """The models have our prefix, key and address the names that the OpenAI client knows; the key is not shown."""
    for name, value in MODELS.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert (settings.chat_model, settings.embedding_model, settings.embedding_dimensions) == (
        "chat-1",
        "vectors-1",
        1536,
    )
    assert settings.openai_base_url == "http://127.0.0.1:8080/v1"
    assert settings.openai_api_key.get_secret_value() == "sk-test"
    assert (settings.rerank_url, settings.rerank_model) == (MODELS["MEM_RERANK_URL"], "scores-1")
    assert settings.rerank_key.get_secret_value() == "sk-rerank"
    assert "sk-" not in repr(settings)


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_variable_is_not_set(monkeypatch, blank):
    """A variable that is set to nothing names nothing, whichever it is."""
    unset = Settings()
    for name, field in Settings.model_fields.items():
        monkeypatch.setenv(f"MEM_{name.upper()}" if field.validation_alias is None else name.upper(), blank)
    assert Settings() == unset


def test_dimensions_that_no_index_holds(monkeypatch):
    """More dimensions than an index holds are refused where they are set."""
    monkeypatch.setenv("MEM_EMBEDDING_DIMENSIONS", "5000")
    with pytest.raises(ValidationError):
        Settings()


@pytest.mark.parametrize("seconds", ["0", "-1", "2", "nan", "inf"])
def test_a_reranker_ends_before_its_leg(monkeypatch, seconds):
    """Its deadline is below the one of a leg, and there is one."""
    monkeypatch.setenv("MEM_RERANK_SECONDS", seconds)
    with pytest.raises(ValidationError):
        Settings()
    monkeypatch.setenv("MEM_RERANK_SECONDS", "1.9")
    assert Settings().rerank_seconds < LEG_SECONDS


@pytest.fixture
def stack_home(tmp_path, monkeypatch):
    """The home of a stack that was started with a task queue of its own."""
    stack = StackFile(
        http="http://127.0.0.1:1", ui=None, temporal=TemporalAddress(address="127.0.0.1:2", namespace="default"),
        database_url="postgresql:///x", pids={}, task_queue="orchard",
    )  # fmt: skip
    (tmp_path / "stack.json").write_text(stack.model_dump_json())
    monkeypatch.setenv("MEM_HOME", str(tmp_path))
    for name in ("MEM_TASK_QUEUE", "TEMPORAL_ADDRESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "queue"),
    [
        ({}, "orchard"),
        ({"MEM_TASK_QUEUE": "other"}, "other"),
        ({"MEM_TASK_QUEUE": "mem"}, "mem"),
        ({"TEMPORAL_ADDRESS": "127.0.0.1:2"}, "orchard"),
        ({"TEMPORAL_ADDRESS": "elsewhere:7233"}, "mem"),
    ],
)
@pytest.mark.usefixtures("stack_home")
def test_the_task_queue_is_that_of_the_stack(monkeypatch, given, queue):
    """Whoever finds a stack finds its worker; what is named goes first, and another Temporal has none of its queues."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert find_addresses(Settings()).task_queue == queue


@pytest.mark.usefixtures("stack_home")
def test_a_stack_of_an_earlier_version_has_the_usual_queue(tmp_path):
    """Its file names none."""
    (tmp_path / "stack.json").write_text('{"http": "http://127.0.0.1:1"}')
    assert find_addresses(Settings()).task_queue == "mem"


def test_the_stack_hands_them_on(monkeypatch):
    """What names a model, its address and its key reaches each part of the embedded stack."""
    for name, value in MODELS.items():
        monkeypatch.setenv(name, value)
    stack = StackFile(
        http="http://127.0.0.1:1", ui=None, temporal=TemporalAddress(address="127.0.0.1:2", namespace="default"),
        database_url="postgresql:///x", pids={}, task_queue="mem", home="/tmp/home", parts=(),
    )  # fmt: skip
    env = _app_env(stack, 1, None, own_temporal=True)
    assert MODELS.items() <= env.items()
