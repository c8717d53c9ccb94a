"""The executor's packages import each other in one direction only, and no folder outgrows a screen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from .support.executor import FOLDER

PACKAGE = "qjs_executor"
BASE = (
    "frames",
    "library_generators",
    "logs",
    "execution_request",
    "device_figures",
    "pauli_sums",
    "mitigation",
    "printed_text",
    "job",
    "settings",
)
"""Modules of their own, below every package, in their order."""
PACKAGES = ("isolation", "child", "zygote", "launcher", "protocol", "sandbox", "service")
ORDER = (*BASE, *PACKAGES)
"""A module may import from its own package and from what stands before it."""
TOP = ("__main__",)
"""Entry points: nothing imports them."""
FILES_MAX = 20
FIXTURES = FOLDER / "tests" / "programs"


def _modules() -> dict[str, Path]:
    """Every module of the executor by its dotted name below the package."""
    root = FOLDER / PACKAGE
    modules: dict[str, Path] = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def _imported(name: str, path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a module imports: anywhere in it, for types only included."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == PACKAGE:
                    yield alias.name.removeprefix(PACKAGE).removeprefix(".")
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1]
                parts = [*base, *(node.module.split(".") if node.module else [])]
            elif node.module is not None and node.module.split(".")[0] == PACKAGE:
                parts = node.module.split(".")[1:]
            else:
                continue
            for alias in node.names:
                submodule = ".".join([*parts, alias.name])
                yield submodule if submodule in modules else ".".join(parts)


def _graph() -> dict[str, set[str]]:
    modules = _modules()
    return {name: set(_imported(name, path, modules)) - {name} for name, path in modules.items()}


def test_every_module_belongs_to_a_package_with_a_place_in_the_order() -> None:
    assert {name.split(".")[0] for name in _graph()} - {""} == {*ORDER, *TOP}


def test_packages_import_only_what_stands_before_them() -> None:
    wrong = []
    for name, imports in _graph().items():
        own = name.split(".")[0]
        if own in ORDER:
            wrong += [
                f"{name} imports {other}"
                for other in imports
                if other and (other.split(".")[0] not in ORDER or ORDER.index(other.split(".")[0]) > ORDER.index(own))
            ]
    assert wrong == []


def _cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_through_others() -> None:
    graph = _graph()
    assert sum(map(len, graph.values())) > 300, "the imports are found"
    assert _cycle(graph) == []


def test_no_folder_of_the_child_imports_itself_through_others() -> None:
    folders: dict[str, set[str]] = {}
    for name, imports in _graph().items():
        for other in imports:
            here, there = (_room(module) for module in (name, other))
            if here and there and here != there:
                folders.setdefault(here, set()).add(there)
    assert len(folders) >= 6, "the folders are found"
    assert _cycle(folders) == []


def _room(module: str) -> str:
    """A folder of the child, or a module that stands in none; empty for what is not the child's."""
    return ".".join(module.split(".")[:2]) if module.startswith("child.") else ""


def test_no_folder_holds_more_files_than_a_reader_can_survey() -> None:
    folders = [FOLDER, *(path for part in (PACKAGE, "tests", "scripts") for path in (FOLDER / part).rglob("*"))]
    counts = {
        str(folder.relative_to(FOLDER)): len([file for file in folder.iterdir() if file.is_file()])
        for folder in [*folders, *(FOLDER / part for part in (PACKAGE, "tests", "scripts"))]
        if folder.is_dir() and folder.name != "__pycache__" and FIXTURES not in (folder, *folder.parents)
    }
    assert counts["tests"] > 0
    assert {folder: count for folder, count in counts.items() if count > FILES_MAX} == {}
