"""Real executors for the tests: started as their own processes, spoken to over HTTP. And how the files of tests are dealt
out to processes."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .support import lanes
from .support.executor import LEVELS, Executor, eventually, ordinary_executor
from .support.frame_child import FrameChildren
from .support.ordinary_user import with_python_open_to_all

# One process, one core, as in the executor's children: threads that wait for each other would take the other's.
os.environ["QISKIT_PARALLEL"] = "FALSE"
for _library in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "RAYON"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

# Thousands of modules are loaded and kept: looking for garbage among them costs seconds and finds none.
gc.disable()


TOGETHER = {
    # They share the executor of an ordinary user, which takes as long to start as most of them to run.
    **dict.fromkeys(("test_escapes", "test_launcher", "test_parking", "test_warm_pool", "test_isolation"), "levels"),
    # They share a server that has imported every framework.
    **dict.fromkeys(
        (
            "test_replay",
            "test_graphs_here",
            "test_task_runs",
            "test_script_asks",
            "test_value_record",
            "test_command_line",
        ),
        "children",
    ),
}
"""Files that one process of xdist takes, by what they share."""
FIRST = (*TOGETHER, "test_launcher_deaths", "test_sandbox_terms", "test_runs", "test_programs")
"""The long ones come first, so that the last process to finish has a short one. All others follow by name."""


def pytest_configure(config: pytest.Config) -> None:
    """Tells the tests which lane runs before they count their examples."""
    lanes.SHORT = config.option.markexpr == "not long"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the files of tests; within a file the order stays."""
    items.sort(key=lambda item: FIRST.index(item.path.stem) if item.path.stem in FIRST else len(FIRST))


def pytest_collection_finish() -> None:
    """What was loaded for the tests is never looked through for garbage again."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deals out whole files, some of them together."""
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return TOGETHER.get(Path(file).stem, str(file))

    config.option.loadscopereorder = False
    return Files(config, log)


@pytest.fixture(scope="session")
def executor() -> Iterator[Executor]:
    """The shared executor: three slots, the strongest isolation of this machine."""
    started = Executor(EXECUTOR_SLOTS="3")
    yield started
    eventually(lambda: started.descendants() == [], 60, "no process of a run is left")
    started.close()


@pytest.fixture(scope="session", params=LEVELS)
def attacked(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """An executor for each level that this machine offers: that of the user of the tests, those of an ordinary user
    with namespaces and without, and that of root without."""
    if request.param == "this user":
        yield request.getfixturevalue("executor")
        return
    if request.param == "root, uid":
        started = Executor(before=with_python_open_to_all(), EXECUTOR_SLOTS="3", EXECUTOR_ISOLATION="uid")
    else:
        started = ordinary_executor(landlock=request.param.endswith("landlock"))
    yield started
    started.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Executor]]:
    """Starts executors of a test's own, stopped with the test."""
    started: list[Executor] = []

    def begin(**environment: str) -> Executor:
        started.append(Executor(**environment))
        return started[-1]

    yield begin
    for one in started:
        one.close()


@pytest.fixture(scope="session")
def children() -> Iterator[FrameChildren]:
    """Children without the shell, spoken to in frames."""
    started = FrameChildren()
    yield started
    started.close()
