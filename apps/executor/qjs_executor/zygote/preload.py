"""Imports, before a zygote forks children, everything that an execution would otherwise have to import itself.

Import only, never execute: qiskit's transpiler and Aer start threads on first use, and a process with threads cannot be
forked safely.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util

from .. import child

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
    "pyqir",
    "quil.program",
)
FRAMEWORKS = (
    "cirq",
    "pennylane",
    "pennylane_lightning.lightning_qubit",
    "braket.circuits",
    "braket.devices",
    "braket.default_simulator",
    "braket.default_simulator.openqasm.interpreter",
    "marqov",
)
"""Imported in this order where they are installed."""
OWN_MODULES = (
    "main",
    "execution",
    "circuits.openqasm3",
    "engines.mps",
    "engines.noise_channels",
    "engines.state_vector",
)
"""Imported together with what they import."""
ADAPTERS = (
    "frameworks.cirq_circuits",
    "frameworks.pennylane_circuits",
    "frameworks.braket_circuits",
    "frameworks.marqov_circuits",
)
PROGRAM = """
OPENQASM 3.0;
include "stdgates.inc";
qubit[3] q;
qubit ancilla;
bit[3] c;
bit flag;
gate pair(theta) a, b { rx(theta / 2) a; cx a, b; }
h q[0];
cx q[0], q[1];
u3(0.1, -pi / 2, 2 * pi) q[2];
rz(1.5e-3) q[1];
pair(pi / 4) q[0], q[2];
ctrl @ x q[0], q[1];
inv @ s q[0];
barrier q;
reset ancilla;
flag = measure ancilla;
if (flag) { x q[0]; } else { z q[1]; }
for int i in [0:1] { h q[i]; }
c[0] = measure q[0];
measure q[1] -> c[1];
if (c == 2) x q[2];
c = measure q;
"""
"""Contains every kind of statement that programs use."""
_DISTRIBUTIONS = {
    "qiskit": "qiskit",
    "qiskit-aer": "qiskit_aer",
    "cirq-core": "cirq",
    "pennylane": "pennylane",
    "amazon-braket-sdk": "braket",
    "marqov": "marqov",
}


def preload(zygote: str) -> dict[str, str]:
    """Imports the packages of "circuits" or "frameworks"; returns the versions of those it found. A package that is not
    installed is skipped; one that is installed and fails to import raises."""
    wanted = CIRCUITS if zygote == "circuits" else CIRCUITS + FRAMEWORKS
    for name in wanted:
        if _installed(name):
            importlib.import_module(name)
    for name in OWN_MODULES:
        importlib.import_module(f"{child.__name__}.{name}")
    for name in ADAPTERS if zygote == "frameworks" else ():
        if name != "frameworks.marqov_circuits" or _installed("marqov"):
            importlib.import_module(f"{child.__name__}.{name}")
    _prepare_simulator()
    _read_a_program()
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


def _prepare_simulator() -> None:
    """Builds what every execution would build in the same way: the operations of each method and the passes into them,
    with the plugins of every stage. Not above level 1, since level 2 starts threads."""
    from ..child.engines import aer_target_memo
    from ..child.engines.aer_target import method_passes
    from ..child.engines.engine import ENGINES

    aer_target_memo.install()
    for method in sorted({engine.method for engine in ENGINES.values() if engine.device == "CPU"}):
        for level in (0, 1):
            method_passes(method, level)


def _read_a_program() -> None:
    """Reads and writes a small program: the parser of OpenQASM 3 learns its grammar while it parses, which would cost
    each child 15 ms."""
    from ..child.circuits.canonical import canonical_text
    from ..child.circuits.info import describe
    from ..child.circuits.measurement import measured_layout, with_measurements
    from ..child.circuits.openqasm import load

    circuit = with_measurements(load(PROGRAM, 8, "local", "qasm3"))
    measured_layout(circuit)
    describe(circuit)
    canonical_text(circuit)
