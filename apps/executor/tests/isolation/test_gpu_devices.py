"""The devices of GPUs: only executions of an executor that is set to have GPUs see them. No GPU is needed: the devices
are files of the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qjs_executor.isolation.private_root import gpu_devices
from qjs_executor.settings import SettingsError, read_settings

from ..support import gpu_check
from ..support.executor import FOLDER, Executor

DRIVER = ["nvidia0", "nvidia12", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps", "null"]
COMPUTING = ["nvidia-uvm", "nvidia0", "nvidia12", "nvidiactl"]
IN_ROOT = """
import os, sys, tempfile
from qjs_executor.isolation import linux
from qjs_executor.isolation.private_root import build_shared_root, gpu_devices
scaffold = tempfile.mkdtemp()
linux.unshare(linux.CLONE_NEWNS)
build_shared_root(scaffold, gpu_devices(sys.argv[1]) if sys.argv[1] else ())
print(*sorted(name for name in os.listdir("/dev") if name.startswith("nvidia")))
print(open("/dev/nvidiactl").read() if sys.argv[1] else "", end="")
"""


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    for name in DRIVER:
        (tmp_path / name).write_text(f"this is {name}")
    return tmp_path


def test_only_the_devices_for_computing_are_taken(devices: Path) -> None:
    assert [os.path.basename(path) for path in gpu_devices(str(devices))] == COMPUTING


@pytest.mark.skipif(os.getuid() != 0, reason="mounts need root")
@pytest.mark.parametrize("gpu", [True, False])
def test_the_root_of_an_execution_has_the_devices_only_when_it_is_given_them(devices: Path, gpu: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_ROOT, str(devices) if gpu else ""],
        env={**os.environ, "PYTHONPATH": str(FOLDER)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "Operation not permitted" in done.stderr:
        pytest.skip("this machine allows no mounts")
    assert done.stdout == (f"{' '.join(COMPUTING)}\nthis is nvidiactl" if gpu else "\n"), done.stderr


def test_an_executor_shows_gpus_only_when_it_is_set_to() -> None:
    token = {"EXECUTOR_TOKEN": "a" * 16}
    assert not read_settings(token).gpu
    assert read_settings({**token, "EXECUTOR_GPU": "1"}).gpu
    with pytest.raises(SettingsError, match="EXECUTOR_GPU"):
        read_settings({**token, "EXECUTOR_GPU": "all"})


def test_the_check_of_a_gpu_says_when_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    if gpu_devices():
        pytest.skip("this machine has a GPU")
    assert gpu_check.main([]) == 2
    assert "has no engine 'gpu_statevector'" in capsys.readouterr().out


def test_the_check_of_an_engine_compares_the_table_and_prints_both_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_check.main(["--engine", "noisy", "--rows", "6", "--qubits", "3", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "every circuit of the table agrees"
    assert [line.split()[0] for line in lines[1:]] == ["qubits", "3", "4"]


def test_the_check_of_an_engine_notices_a_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_check, "simulate", lambda *_: {0: gpu_check.SHOTS})
    assert len(gpu_check.disagreements("statevector", 40)) > 10


def test_the_environment_for_gpus_differs_in_the_simulator_alone() -> None:
    def pinned(name: str) -> list[str]:
        lines = (FOLDER / name).read_text().splitlines()
        return [line for line in lines if line and not line.startswith("#")]

    usual = [line.replace("qiskit-aer==", "qiskit-aer-gpu==") for line in pinned("requirements.in")]
    assert pinned("requirements-gpu.in") == usual
    locked = (FOLDER / "requirements-gpu.txt").read_text()
    assert "\nqiskit-aer-gpu==" in locked
    assert "\nqiskit-aer==" not in locked


@pytest.mark.long
def test_an_executor_for_gpus_without_one_runs_on_the_cpu_and_refuses_its_engines_by_name() -> None:
    if gpu_devices():
        pytest.skip("this machine has a GPU")
    executor = Executor(EXECUTOR_GPU="1")
    try:
        source = {"kind": "code", "framework": "openqasm", "code": "OPENQASM 3.0; qubit q; U(0, 0, 0) q;"}
        assert executor.run(source).result["counts"] == {"0": 100}
        assert "gpu_statevector" not in executor.health()["engines"]
        refused = executor.run(source, engine="gpu_statevector")
        assert (refused.status, refused.lines[0]["error"]["code"]) == (409, "engine_missing")
        assert "'gpu_statevector'" in refused.lines[0]["error"]["message"]
    finally:
        executor.close()
