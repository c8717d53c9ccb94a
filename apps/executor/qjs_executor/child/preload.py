"""What a zygote imports before it forks children: everything that a run would otherwise import, at its own cost.

Import only, never a run: qiskit's transpiler and Aer start threads on first use, and a process with threads cannot be
forked safely.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util

CIRCUITS = (
    "numpy",
    "numpy.random",
    "scipy.linalg",
    "qiskit",
    "qiskit.circuit.library",
    "qiskit.qasm2",
    "qiskit.qasm3",
    "qiskit.quantum_info",
    "qiskit.synthesis.linear.linear_circuits_utils",
    "qiskit.transpiler.passes.synthesis.hls_plugins",
    "qiskit_aer",
    "qiskit_aer.noise",
    "qiskit_qasm3_import",
    "qiskit_qasm3_import.api",
    "qiskit_qasm3_import.converter",
    "openqasm3.parser",
)
FRAMEWORKS = (
    "cirq",
    "pennylane",
    "pennylane_lightning.lightning_qubit",
    "braket.circuits",
    "braket.devices",
    "braket.default_simulator",
    "marqov",
)
"""Imported in this order where they are installed."""
OWN_MODULES = (
    "main",
    "job",
    "circuits.openqasm3",
    "engines.mps",
    "engines.noise_channels",
    "engines.state_vector",
)
"""Together with what they import."""
ADAPTERS = (
    "frameworks.cirq_circuits",
    "frameworks.pennylane_circuits",
    "frameworks.braket_circuits",
    "frameworks.marqov_circuits",
)
_DISTRIBUTIONS = {
    "qiskit": "qiskit",
    "qiskit-aer": "qiskit_aer",
    "cirq-core": "cirq",
    "pennylane": "pennylane",
    "amazon-braket-sdk": "braket",
    "marqov": "marqov",
}


def preload(zygote: str) -> dict[str, str]:
    """Imports the packages of "circuits" or "frameworks"; answers the versions of those it found. A package that is not
    installed is left out; one that is installed and does not import raises."""
    wanted = CIRCUITS if zygote == "circuits" else CIRCUITS + FRAMEWORKS
    for name in wanted:
        if _installed(name):
            importlib.import_module(name)
    for name in OWN_MODULES:
        importlib.import_module(f"{__package__}.{name}")
    for name in ADAPTERS if zygote == "frameworks" else ():
        if name != "frameworks.marqov_circuits" or _installed("marqov"):
            importlib.import_module(f"{__package__}.{name}")
    _load_transpiler_stages()
    roots = {name.partition(".")[0] for name in wanted}
    return {
        distribution: importlib.metadata.version(distribution)
        for distribution, root in _DISTRIBUTIONS.items()
        if root in roots and _installed(root)
    }


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _load_transpiler_stages() -> None:
    """Building pass managers loads the plugins of every stage. Not above level 1: level 2 starts threads."""
    from qiskit.transpiler.preset_passmanagers import generate_preset_pass_manager
    from qiskit_aer import AerSimulator

    from . import aer_target_memo

    aer_target_memo.install()
    target = AerSimulator().target
    for level in (0, 1):
        generate_preset_pass_manager(optimization_level=level, target=target)
