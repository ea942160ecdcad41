"""From options to a plan: addresses, and how each part is started."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import NamedTuple

import mem
from mem.app_dir import find_app_dir
from mem.clients.temporal.connection import payload_keys
from mem.domain.errors import MemError, StackError
from mem.local import place, postgres, temporal
from mem.local.answers import check
from mem.local.options import PartSpec, StackOptions
from mem.local.ports import HOST, choose
from mem.local.processes import Launch
from mem.local.stack_file import PartRecord, StackFile, StackHome, TemporalAddress

CODEC_PATH = "/codec"
"""Below it the gateway reads encrypted payloads for Temporal's UI."""


class Plan(NamedTuple):
    """The stack file as it will be, still without processes, and the parts in the order in which they start."""

    stack: StackFile
    launches: tuple[Launch, ...]


async def make_plan(home: StackHome, options: StackOptions) -> Plan:
    """Choose ports and places, make the database cluster where it is missing, and check what was given.

    Raises:
        StackError: A fixed port is in use, or a given server does not answer.
    """
    app_dir = find_app_dir(options.app_dir) if any(part.needs_app_dir for part in options.parts) else options.app_dir
    taken: set[int] = set()
    # Fixed ports first, so that no free one is chosen that a later option asks for.
    wanted = {
        "--http-port": options.http_port,
        "--ui-port": options.ui_port,
        "--temporal-port": options.temporal_port,
        "--postgres-port": options.postgres_port,
    }
    ports = {
        option: choose(option, fixed, taken)
        for option, fixed in sorted(wanted.items(), key=lambda item: item[1] is None)
    }
    own_temporal = options.temporal_address is None
    stack = StackFile(
        http=f"http://{HOST}:{ports['--http-port']}",
        ui=f"http://{HOST}:{ports['--ui-port']}" if own_temporal else None,
        temporal=TemporalAddress(
            address=options.temporal_address or f"{HOST}:{ports['--temporal-port']}",
            namespace=options.temporal_namespace,
        ),
        database_url=options.database_url or "",
        pids={},
        task_queue=options.task_queue,
        home=str(home.root),
        parts=(
            PartRecord(name="postgres", ready="postgres", external=options.database_url is not None),
            PartRecord(name="temporal", ready="temporal", external=not own_temporal),
            *(PartRecord(name=part.name, ready=part.ready) for part in options.parts if part.ready != "exit"),
        ),
    )
    await _check_given(stack)
    launches: list[Launch] = []
    if options.database_url is None:
        stack, launch = await _plan_postgres(home, options, stack, ports["--postgres-port"])
        launches.append(launch)
    if own_temporal:
        namespace = options.temporal_namespace
        codec = f"{stack.http}{CODEC_PATH}" if payload_keys() else None
        launches.append(temporal.server(home, namespace, ports["--temporal-port"], ports["--ui-port"], codec=codec))
    env = _app_env(stack, ports["--http-port"], app_dir, own_temporal=own_temporal)
    launches.extend(_app_launch(home, part, env) for part in options.parts)
    return Plan(stack, tuple(launches))


async def _plan_postgres(
    home: StackHome, options: StackOptions, stack: StackFile, port: int
) -> tuple[StackFile, Launch]:
    user = place.unprivileged_user()
    placement = place.place(home, options.postgres_package or place.wheel_package(), options.state_dir, user)
    password = await postgres.make_cluster(home, placement, user)
    update = {
        "database_url": postgres.url(password, port),
        "postgres_dir": str(placement.data),
        "postgres_binaries": str(placement.binaries),
    }
    return stack.model_copy(update=update), postgres.server(home, placement, user, port)


async def _check_given(stack: StackFile) -> None:
    variables = {"postgres": "MEM_DATABASE_URL", "temporal": "TEMPORAL_ADDRESS"}
    for part in stack.parts:
        if part.external:
            variable = variables[part.name]
            try:
                await check(part, stack, None)
            except MemError as error:
                raise StackError(
                    error.cause,
                    error.remedy or f"Start it or correct {variable}; without {variable} the stack starts its own.",
                ) from error


def _app_launch(home: StackHome, part: PartSpec, env: dict[str, str]) -> Launch:
    return Launch(
        name=part.name,
        argv=part.argv,
        env=env | part.env | _metrics_of(part, env),
        ready=part.ready,
        log=home.log(part.name),
        grace=part.grace,
        start_timeout=part.start_timeout,
        niceness=part.niceness,
    )


def _metrics_of(part: PartSpec, env: dict[str, str]) -> dict[str, str]:
    """Two processes cannot serve at one address: the metrics of the writer are one port above those of the worker."""
    host, _, port = env.get("MEM_METRICS_ADDRESS", "").rpartition(":")
    if part.ready != "writers" or not port.isdecimal():
        return {}
    return {"MEM_METRICS_ADDRESS": f"{host}:{int(port) + 1}"}


def _app_env(stack: StackFile, http_port: int, app_dir: Path | None, *, own_temporal: bool) -> dict[str, str]:
    """The caller's environment with this stack's addresses."""
    env = dict(os.environ)
    env.pop("MEM_HEALTH_FILE", None)  # it is of one process
    if own_temporal:
        # TLS or a key meant for another server would break the connection to ours.
        env = {name: value for name, value in env.items() if not name.startswith("TEMPORAL_")}
        env["TEMPORAL_CONFIG_FILE"] = os.devnull
        env["TEMPORAL_API_KEY"] = ""  # a secret file is not looked for where the environment names it
    env |= {
        "MEM_DATABASE_URL": stack.database_url,
        "TEMPORAL_ADDRESS": stack.temporal.address,
        "TEMPORAL_NAMESPACE": stack.temporal.namespace,
        "MEM_TASK_QUEUE": stack.task_queue,
        "MEM_HTTP_PORT": str(http_port),
        "MEM_HTTP_HOST": HOST,
        "MEM_HOME": stack.home,
        "PYTHONUNBUFFERED": "1",
    }
    if stack.ui is not None:
        # Whoever opens it by the other name of this machine is the same page.
        own = [stack.ui, stack.ui.replace(HOST, "localhost")]
        env["MEM_UI_ORIGINS"] = ",".join([*own, *filter(None, [env.get("MEM_UI_ORIGINS")])])
    if app_dir is not None:
        env["MEM_APP_DIR"] = str(app_dir.resolve())
    return env | python_path(env)


def python_path(env: dict[str, str]) -> dict[str, str]:
    """PYTHONPATH that makes a child import the package `mem` that runs here, where it is not an installed one."""
    root = Path(mem.__file__).resolve().parent.parent
    if str(root) in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        return {}
    given = env.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(root), given] if given else [str(root)])}
