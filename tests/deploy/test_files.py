"""What the files of docker/ say fits together, without running any of it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.deploy.dockerfile import allowed, read_dockerfile

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
OURS = {"migrate", "worker", "writer", "gateway"}


def pins(path: Path) -> dict[tuple[str, str], frozenset[str]]:
    """The hashes of each version that a lock names."""
    found: dict[tuple[str, str], set[str]] = {}
    pinned = ("", "")
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([a-z0-9._-]+)==(\S+)", line):
            pinned = (match[1], match[2])
            found.setdefault(pinned, set())
        elif match := re.search(r"--hash=(sha256:\w+)", line):
            found[pinned].add(match[1])
    return {version: frozenset(hashes) for version, hashes in found.items()}


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock"])
def test_the_image_has_the_versions_that_are_tested(name):
    """Each version is one of the main lock, with hashes that stand there, and at least one."""
    tested = pins(ROOT / "requirements.lock")
    image = pins(DOCKER / name)
    assert len(image) > 4
    assert {pin: hashes for pin, hashes in image.items() if not hashes or not hashes <= tested[pin]} == {}


def test_the_image_has_what_the_package_declares_and_no_tools():
    """Every requirement of the package and of the image's extras, and none of what is for development alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[^A-Za-z0-9._-]", each)[0].lower() for each in requirements}

    locked = {name for name, _ in pins(DOCKER / "requirements.lock")}
    wanted = names(project["dependencies"]).union(
        *(names(extras[each]) for each in ("worker", "http", "mcp", "telemetry"))
    )
    assert wanted - locked == set()
    assert locked & (names(extras["dev"]) | names(extras["local"])) <= wanted


def test_what_is_copied_is_there_and_not_ignored():
    """A build finds every source of a COPY, and nothing names a place where packages come from."""
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    sources = [
        source for stage in read_dockerfile(DOCKER / "Dockerfile") for given, _ in stage.copied for source in given
    ]
    assert {"worker.py", "workflows", "activities", "prompts", "mem"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists()
        assert allowed(source, ignore), source
    for path in DOCKER.rglob("*.lock"):
        assert "://" not in path.read_text(encoding="utf-8")


def test_the_image_runs_as_nobody_in_particular():
    """By number, so that a cluster can see that it is not root; and both stages have the same Python."""
    build, runtime = read_dockerfile(DOCKER / "Dockerfile")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", runtime.last("USER"))
    assert build.image.split()[0] == runtime.image
    assert ":" in runtime.image


def test_every_service_is_bounded(compose):
    """Memory, processors and processes of each are limited, and its image is pinned."""
    for name, service in compose["services"].items():
        assert {"mem_limit", "cpus", "pids_limit"} <= set(service), name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["restart"], name
        assert service["image"].partition(":")[2] not in ("", "latest"), name


def test_ports_are_published_on_the_loopback_interface_alone(compose):
    """Nobody else's machine reaches a port that a service opens here."""
    published = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []


def test_no_secret_stands_in_the_file(compose):
    """Passwords come from files, which are not in the repository; no variable has one."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "docker/secrets/" in ignored
    for secret in compose["secrets"].values():
        assert secret["file"].startswith("./secrets/")
    for name, service in compose["services"].items():
        given = service.get("environment", {})
        secret = [each for each in given if re.search("PASSWORD|PWD|KEY|TOKEN|DATABASE_URL", each)]
        assert [each for each in secret if not each.endswith("FILE")] == [], name
        assert set(service.get("secrets", [])) <= set(compose["secrets"]), name


def test_our_services_have_time_to_end(compose):
    """The grace time is above what the stack of `mem up` gives a worker."""
    for name in OURS:
        assert int(compose["services"][name]["stop_grace_period"].removesuffix("s")) > 30
    assert compose["services"]["worker"]["deploy"]["replicas"] == 2
