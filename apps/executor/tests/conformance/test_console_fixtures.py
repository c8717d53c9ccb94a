"""The fixtures of the web console say what the table and the server say today."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .console_fixtures import FOLDER, files

NOTE = "is stale: run scripts/console-fixtures"


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
        # The last digits of a probability depend on the machine.
        chances, wanted = found.pop("probabilities", {}), row.get("probabilities", {})
        assert found == {key: value for key, value in row.items() if key != "probabilities"}, f"{name} {NOTE}"
        for key in chances | wanted:
            assert abs(chances.get(key, 0) - wanted.get(key, 0)) < 1e-12, f"{name} {NOTE}"
