"""A gate keeps its name: read, converted and read again, drawn, counted, and in a noise model."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import pytest
from qiskit import qasm2
from qiskit_qasm3_import.converter import _STDGATES

from qjs_executor.child.circuits.canonical import canonical_text
from qjs_executor.child.circuits.openqasm import load

from ..support.direct import QELIB, QISKIT, STD, answer, counts, refusal

OLDER = {"CX": "cx", "phase": "p", "cphase": "cp"}
"""Names of stdgates.inc that stand for a gate with a newer one."""
DRAWN = {
    "cx": "X", "ccx": "X", "cswap": "X", "swap": "X", "id": "I", "sxdg": "√Xdg", "sx": "√X", "cz": "■", "cp": "P", "cu1": "U1", "ch": "H", "cy": "Y",
    "crx": "Rx", "cry": "Ry", "crz": "Rz", "csx": "Sx", "cu": "U", "cu3": "U3", "rzz": "ZZ",
}  # fmt: skip
"""What the diagram shows for a gate, controls apart; for others, the name."""


def gates() -> list[Any]:
    """Every gate: its language, its name, and how many parameters and qubits it has."""
    three = [("3", name, params, qubits) for name, (_, params, qubits) in _STDGATES.items()]
    two = [("2", gate.name, gate.num_params, gate.num_qubits) for gate in qasm2.LEGACY_CUSTOM_INSTRUCTIONS]
    # Optimising the definition of c4x takes 40 s.
    slow = {"c4x": [pytest.mark.long]}
    return [
        pytest.param(*gate, id=f"{gate[1]} of {gate[0]}", marks=slow.get(gate[1], []))
        for gate in three + two
        # Qiskit reads `delay` as one; it is none of qelib1.inc.
        if gate[1] != "delay"
    ]


def source(version: str, name: str, params: int, qubits: int) -> str:
    """A program that calls a gate once."""
    # u0 takes how many times the length of a gate its qubit idles.
    values = ["2"] if name == "u0" else [f"0.{place + 1}" for place in range(params)]
    angles = f"({', '.join(values)})" if params else ""
    places = ", ".join(f"q[{place}]" for place in range(qubits))
    return (STD + "qubit[5] q; " if version == "3" else QELIB + "qreg q[5]; ") + f"{name}{angles} {places};"


@pytest.mark.parametrize(("version", "name", "params", "qubits"), gates())
def test_a_gate_keeps_its_name(version: str, name: str, params: int, qubits: int) -> None:
    text = source(version, name, params, qubits)
    shown = OLDER.get(name, name)
    circuit = load(text, 5, "the test")
    converted = canonical_text(circuit)
    again = load(converted, 5, "the test")
    assert [item.operation.name for item in circuit.data] == [item.operation.name for item in again.data] == [shown]
    assert canonical_text(again) == converted
    # A gate that is wrong in each shot: without the entry every count would be 00000 but for the gate itself.
    model = {"gate_errors": {name: 1.0}}
    given = answer("openqasm", text, engine="noisy", noise_model=model, seed=3, shots=400)
    assert given["warnings"] == []
    assert given["circuit_info"]["gate_counts"] == {shown: 1, "measure": 5}
    assert DRAWN.get(shown, shown).lower() in given["circuit_info"]["diagram"].lower()
    touched = {key[:qubits] for key in given["counts"]}
    assert len(touched) == 2**qubits, "a fully depolarised gate leaves each value of its qubits"
    assert {key[qubits:] for key in given["counts"]} == {"0" * (5 - qubits)}
    assert counts("openqasm", converted, engine="noisy", noise_model=model, seed=3, shots=400) == given["counts"]


@pytest.mark.parametrize("modifier", ["inv @ ", "pow(3) @ ", ""])
def test_the_time_of_an_identity_relaxes_its_qubit(modifier: str) -> None:
    """A qubit that is 1 decays while it idles, for the time that the model gives to `id`."""
    model = {"t1_us": 1.0, "t2_us": 1.0, "gate_times_ns": {"id": 1e6, "x": 0.0}}
    code = STD + f"qubit q; x q; {modifier}id q;"
    given = answer("openqasm", code, engine="noisy", noise_model=model, shots=50)
    assert given["circuit_info"]["gate_counts"] == {"x": 1, "id": 1, "measure": 1}
    assert given["counts"] == {"0": 50}


def test_u0_is_as_many_identities_as_it_says_under_its_own_name() -> None:
    text = QELIB + "qreg q[2]; creg c[2]; x q; u0(2) q[0]; u0(1) q[1]; measure q -> c;"
    assert answer("openqasm", text)["circuit_info"]["gate_counts"] == {"x": 2, "u0": 2, "measure": 2}
    # Noise of `id` acts on it, unless the model has an entry for u0 itself.
    by_identity = {"id": 1.0}
    for entries, keys in ((by_identity, {"00", "01", "10", "11"}), ({**by_identity, "u0": 0.0}, {"11"})):
        assert set(counts("openqasm", text, engine="noisy", noise_model={"gate_errors": entries}, seed=1)) == keys
    assert canonical_text(load(text, 2, "the test")).count("id _gate_q_0;") == 3
    assert "must be an integer" in refusal("openqasm", text.replace("u0(2)", "u0(2.5)")).message


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("gate sxdg a { x a; sx a; }", "sxdg"),
        ("gate rzz(t) a, b { cx a, b; rz(t) b; cx a, b; }", "rzz"),
        ("gate rzz(t) a, b { cx a, b; rz(2 * t) b; cx a, b; }", "rzz_custom"),
        ("gate sxdg a { s a; h a; s a; }", "sxdg_custom"),
        ("gate iswap a { x a; }", "iswap_custom"),
    ],
)
def test_a_defined_gate_is_the_standard_one_only_if_it_does_the_same(definition: str, expected: str) -> None:
    name = definition.split("(")[0].split()[1]
    call = {"rzz": "rzz(0.3) q[0], q[1];"}.get(name, f"{name} q[0];")
    circuit = load(f"{STD}{definition}\nqubit[2] q; {call}", 2, "the test")
    assert [item.operation.name for item in circuit.data] == [expected]


@pytest.mark.parametrize(
    "name", sorted({plugin.name.split(".")[0] for plugin in entry_points(group="qiskit.synthesis")})
)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_gate_named_like_a_plugin_of_the_transpiler_is_the_users_own(name: str, level: int) -> None:
    code = f"{STD}gate {name}(a) q, r {{ rx(a) q; cx q, r; }}\nqubit[3] q; {name}(pi) q[0], q[1]; ctrl @ {name}(pi) q[0], q[1], q[2];"
    assert counts("openqasm", code, optimization_level=level) == {"100": 100}
    made = (
        f"g = QuantumCircuit(1, name={name!r})\ng.x(0)\ncircuit = QuantumCircuit(2)\ncircuit.append(g.to_gate(), [0])"
    )
    assert counts("qiskit", QISKIT + made, optimization_level=level) == {"10": 100}
