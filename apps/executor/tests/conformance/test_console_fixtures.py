"""The fixtures of the web console say what the table and the server say today."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from .console_fixtures import FOLDER, files

NOTE = "is stale: run scripts/console-fixtures"
SYMBOLIC = re.compile(r"\((?:[^()]|\([^()]*\))*\bp\d(?:[^()]|\([^()]*\))*\)")
"""The arguments of a call in which a parameter of a gate stands."""
NUMBERED = re.compile(r"(\b_?c*circuit)_\d+")
"""A gate that qiskit named by the address of an object, as it does for a gphase with controls."""


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what differs from process to process: the order of terms in a symbolic angle of a converted program
    and the numbers of gates without a name (the console's own test runs these programs), and the last digits of a
    probability, which depend on the machine."""
    rest = {key: value for key, value in row.items() if key != "probabilities"}
    if isinstance(rest.get("converted"), str):
        rest["converted"] = NUMBERED.sub(r"\1", SYMBOLIC.sub("(...)", rest["converted"]))
    return rest


@pytest.fixture(scope="module")
def expected() -> dict[str, list[dict[str, Any]]]:
    return files()


@pytest.mark.parametrize("name", ["conformance.json", "texts.json", "programs.json", "changed-programs.json"])
def test_a_fixture_of_the_console_is_what_the_table_and_the_server_say(
    name: str, expected: dict[str, list[dict[str, Any]]]
) -> None:
    written = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert len(written) == len(expected[name]), f"{name} {NOTE}"
    for found, row in zip(written, expected[name], strict=True):
        assert comparable(found) == comparable(row), f"{name} {NOTE}"
        chances, wanted = found.get("probabilities", {}), row.get("probabilities", {})
        for key in chances | wanted:
            assert abs(chances.get(key, 0) - wanted.get(key, 0)) < 1e-12, f"{name} {NOTE}"
