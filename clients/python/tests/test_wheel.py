"""What users install."""

from __future__ import annotations

import json
import os
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

import quantum_job_service

PROJECT = Path(__file__).parents[3]


@pytest.mark.skipif("QJS_WHEEL" not in os.environ, reason="these tests run on the sources, not on the wheel")
def test_the_tests_run_on_the_wheel_which_has_types_and_the_device_of_pennylane() -> None:
    package = Path(quantum_job_service.__file__).parent
    assert package.parent == Path(os.environ["QJS_WHEEL"])
    assert (package / "py.typed").exists()
    [device] = entry_points(group="pennylane.plugins", name="qjs.remote")
    assert device.value == "quantum_job_service.pennylane:RemoteDevice"


def test_the_version_is_that_of_the_service() -> None:
    expected = json.loads((PROJECT / "package.json").read_text())["version"]
    assert quantum_job_service.__version__ == expected
    if "QJS_WHEEL" in os.environ:
        assert version("quantum-job-service") == expected
