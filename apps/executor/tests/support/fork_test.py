"""`scripts/fork-test`: forks of a process with the frameworks loaded are only safe if it imported and ran nothing. Here
children of every kind have to end well, draw samples of their own without a seed, and the same ones with one.

Slow in full; the suite runs a short form. To be run in full when a framework's version changes.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from .executor import Executor

SHOTS = 4096
SECONDS_MAX = 300.0
"""For one run; one that hangs is reported by its time limit."""

_CIRQ = "import cirq\na, b = cirq.LineQubit.range(2)\ncircuit = cirq.Circuit(cirq.H(a), cirq.CNOT(a, b), cirq.measure(a, b, key='m'))\n"
_PENNYLANE = (
    "import pennylane as qml\ndev = qml.device('{device}', wires=2{seed})\n"
    "@qml.qnode(dev, shots=4096)\ndef bell():\n  qml.Hadamard(0)\n  qml.CNOT([0, 1])\n  return qml.counts()\n"
    "def main(): return {{'counts': {{str(k): int(v) for k, v in bell().items()}}}}"
)
KINDS: dict[str, tuple[str, str, str]] = {
    "qiskit, transpiled, Aer": (
        "qiskit",
        "from qiskit import QuantumCircuit, transpile\nfrom qiskit_aer import AerSimulator\n"
        "qc = QuantumCircuit(2)\nqc.h(0)\nqc.cx(0, 1)\nqc.measure_all()\nengine = AerSimulator()\n"
        "def main(): return {{'counts': engine.run(transpile(qc, engine), shots=4096{seed}).result().get_counts()}}",
        ", seed_simulator=7",
    ),
    "OpenQASM": (
        "openqasm",
        'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[2] c; h q[0]; cx q[0], q[1]; c = measure q;',
        "",
    ),
    "cirq": (
        "cirq",
        _CIRQ + "def main(): return {{'counts': {{str(k): v for k, v in cirq.Simulator({seed}).run(circuit, repetitions=4096).histogram(key='m').items()}}}}",
        "seed=7",
    ),
    "default.qubit": ("pennylane", _PENNYLANE.replace("{device}", "default.qubit"), ", seed=7"),
    "lightning.qubit": ("pennylane", _PENNYLANE.replace("{device}", "lightning.qubit"), ", seed=7"),
    "braket": (
        "marqov",
        "from braket.circuits import Circuit\nfrom braket.devices import LocalSimulator\n"
        "def main():\n  counts = LocalSimulator().run(Circuit().h(0).cnot(0, 1), shots=4096).result().measurement_counts\n"
        "  return {{'counts': {{str(k): int(v) for k, v in counts.items()}}}}",
        "",
    ),
}  # fmt: skip
"""Framework, code, and what stands in place of `{seed}` where the framework's own run takes a seed."""


@dataclass(frozen=True)
class Finding:
    """What children of one kind did. `distinct`: how many different counts came out without a seed; `seeded`: the same
    with one, None where the framework takes none."""

    kind: str
    children: int
    ok: int
    faults: list[str]
    distinct: int
    seeded: int | None
    seconds: float


def try_kind(executor: Executor, kind: str, children: int, at_once: int) -> Finding:
    """Runs many children of one kind, and up to ten with a seed."""
    framework, code, seed = KINDS[kind]
    started = time.monotonic()
    plain = [code.format(seed="") if framework != "openqasm" else code] * children
    outcomes = _run_all(executor, framework, plain, at_once, {})
    faults = [outcome for ok, outcome in outcomes if not ok]
    draws = {outcome for ok, outcome in outcomes if ok}
    seeded: int | None = None
    if seed or framework == "openqasm":
        programs = [code.format(seed=seed) if framework != "openqasm" else code] * min(10, children)
        again = _run_all(executor, framework, programs, at_once, {"seed": 7} if framework == "openqasm" else {})
        faults += [outcome for ok, outcome in again if not ok]
        seeded = len({outcome for ok, outcome in again if ok})
    return Finding(kind, children, children - len(faults), faults, len(draws), seeded, time.monotonic() - started)


def _run_all(
    executor: Executor, framework: str, programs: list[str], at_once: int, params: dict[str, int]
) -> list[tuple[bool, str]]:
    def one(code: str) -> tuple[bool, str]:
        source = {"kind": "code", "framework": framework, "code": code}
        answer = executor.run(source, shots=SHOTS, wall=SECONDS_MAX, params=dict(params))
        outcome = answer.lines[-1].get("outcome", answer.lines[-1])
        if outcome.get("status") != "completed":
            return False, json.dumps(outcome)[:300]
        result = json.loads(outcome["result"])
        counts = result.get("counts")
        if not isinstance(counts, dict) or sum(counts.values()) != SHOTS:
            return False, f"no counts of {SHOTS} shots: {json.dumps(result)[:300]}"
        return True, json.dumps(counts, sort_keys=True)

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(one, programs))


def main() -> int:
    """Prints a table; 1 when a child failed, siblings drew alike, or a seed did not hold."""
    children = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    at_once = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    executor = Executor(EXECUTOR_SLOTS=str(at_once))
    bad = False
    try:
        print(f"{'kind':26}{'children':>9}{'ok':>6}{'distinct':>9}{'seeded':>7}{'seconds':>9}")
        for kind in KINDS:
            found = try_kind(executor, kind, children, at_once)
            seeded = "-" if found.seeded is None else str(found.seeded)
            print(
                f"{kind:26}{found.children:>9}{found.ok:>6}{found.distinct:>9}{seeded:>7}{found.seconds:>9.1f}",
                flush=True,
            )
            for fault in found.faults[:3]:
                print(f"    {fault}")
            bad = bad or found.ok < children or found.distinct < min(3, children) or found.seeded not in (None, 1)
    finally:
        executor.close()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
