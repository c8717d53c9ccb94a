"""What a provider's form cannot express is refused by operation, qubit and line; a wrong writer is caught."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import Gate
from qiskit.circuit.classical import expr

from qjs_executor.child.refusals import Unsupported
from qjs_executor.child.targets.compilation import compile_circuit
from qjs_executor.child.targets.target import parse_target

from ...support.direct import QELIB
from ...support.targets_machine import TARGETS, compiled

STD = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
TERMINAL = ("braket", "ionq", "qir")
STATIC = (*TERMINAL, "quil", "ibm ecr")


def refusal(source: str, target: dict[str, Any]) -> Unsupported:
    with pytest.raises(Unsupported) as caught:
        compiled(source, target)
    return caught.value


REFUSED: list[tuple[str, tuple[str, ...], str, int]] = [
    ("qubit[2] q;\nbit[2] c;\nh q[0];\nc[0] = measure q[1];\n\nx q[1];", TERMINAL, r"x on qubit 1 comes after the measurement of qubit 1", 8),
    ("qubit[2] q;\nbit[2] c;\nc[0] = measure q[1];\nh q[0];\nc[1] = measure q[1];", TERMINAL, r"measure on qubit 1 is measured twice", 7),
    ("qubit[3] q;\nbit[2] c;\nc[0] = measure q[1];\ncx q[0], q[1];\nc[1] = measure q[0];", TERMINAL, r"cx on qubits 0, 1 comes after the measurement of qubit 1", 6),
    ("qubit[2] q;\nbit[1] c;\nc[0] = measure q[0];\nc[0] = measure q[1];", TERMINAL, r"measure on qubit 1 is measured into a bit that already holds another result", 6),
    ("qubit[2] q;\nbit[2] c;\nx q[0];\n// reset later\nreset q[1];\nc = measure q;", TERMINAL, r"reset on qubit 1 is a reset", 7),
    ("qubit[2] q;\nbit[2] c;\nh q[0];\nc[0] = measure q[0];\nif (c[0]) {\n  x q[1];\n}\nc[1] = measure q[1];", STATIC, r"x on qubit 1 depends on a measured bit", 7),
    ("qubit[2] q;\nbit[2] c;\nc[0] = measure q[0];\nwhile (c[0]) {\n  x q[0];\n  c[0] = measure q[0];\n}", tuple(TARGETS), r"while_loop on qubit 0 has no form in this target", 6),
    ("qubit[2] q;\nbit[2] c;\nc = measure q;\nif (c == 2) { x q[1]; } else { x q[0]; }", tuple(TARGETS), r"if_else on qubits? .* has an else for a whole register", 6),
    ("qubit[2] q;\nbit[2] c;\nc = measure q;\nif (c[0]) {\n  c[0] = measure q[1];\n  x q[1];\n}", tuple(TARGETS), r"if_else on qubit 1 measures into a bit that it tests", 6),
    ("qubit[2] q;\nbit[2] c;\nc = measure q;\nif (c[0]) { if (c[1]) { y q[1]; } }", ("qasm2",), r"y on qubit 1 stands under two ifs", 6),
    ("qubit[2] q;\nbit[2] c;\nc = measure q;\nif (c[0]) { x q[1]; }\nif (c == 3) { z q[0]; }", ("qasm2",), r"x on qubit 1 depends on one bit of a register that is also tested as a whole", 6),
    ("qubit[2] q;\nbit[2] c;\nc = measure q;\nif (c[0]) { barrier q; }", ("qasm2",), r"barrier on qubits 0, 1 stands under an if", 6),
    ("qubit[2] q;\nbit[2] c;\nh q[0];\ndelay[100ns] q[0];\nc = measure q;", tuple(TARGETS), r"delay on qubit 0 has no form in this target", 6),
    ("qubit[2] q;\nbit[2] c;\nfor int i in [0:3] {\n  x q[0];\n  c[0] = measure q[0];\n  if (c[0]) { break; }\n}", tuple(TARGETS), r"break_loop on qubit 0 has no form in this target", 5),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target", "message", "line"), [(s, t, m, n) for s, ts, m, n in REFUSED for t in ts])
def test_what_a_target_cannot_express_is_refused_by_name_qubit_and_line(
    source: str, target: str, message: str, line: int
) -> None:
    error = refusal(STD + source, TARGETS[target])
    assert error.message.startswith(f"target {TARGETS[target]['format']}: ")
    assert re.search(message, error.message), error.message
    assert error.line == line


def _switch(circuit: QuantumCircuit) -> None:
    with circuit.switch(circuit.cregs[0]) as case, case(1):
        circuit.x(1)


def _either(circuit: QuantumCircuit) -> None:
    with circuit.if_test(expr.logic_or(circuit.clbits[0], circuit.clbits[1])):
        circuit.x(1)


def _store(circuit: QuantumCircuit) -> None:
    circuit.store(circuit.clbits[0], expr.logic_not(circuit.clbits[1]))


def _initialize(circuit: QuantumCircuit) -> None:
    circuit.initialize([0, 1], 1)


def _unknown(circuit: QuantumCircuit) -> None:
    circuit.append(Gate("mystery", 1, []), [1])


OF_QISKIT: list[tuple[Callable[[QuantumCircuit], None], str]] = [
    (_switch, "switch_case on qubit 1 has no form in this target; only 'if' and loops of known length do"),
    (
        _either,
        "if_else on qubit 1 tests more than 'bit', '!bit' or 'register == number', which has no form in this target",
    ),
    (_store, "store has no form in this target; remove it"),
    (_initialize, "initialize on qubit 1 has no form in this target; remove it"),
    (_unknown, "mystery on qubit 1 cannot be written in the gates of"),
]


@pytest.mark.parametrize(("add", "message"), OF_QISKIT)
@pytest.mark.parametrize("target", TARGETS)
def test_what_only_qiskit_can_express_is_refused_by_name(
    target: str, add: Callable[[QuantumCircuit], None], message: str
) -> None:
    circuit = QuantumCircuit(2, 2)
    circuit.h(0)
    circuit.measure(0, 0)
    add(circuit)
    with pytest.raises(Unsupported) as caught:
        compile_circuit(circuit, None, parse_target(TARGETS[target]))
    assert caught.value.message.startswith(f"target {TARGETS[target]['format']}: {message}")


def test_the_line_of_openqasm_2_counts_statements_and_broadcasts() -> None:
    source = f"{QELIB}\nqreg q[3]; creg c[3];\ngate g a {{ x a; }} // x q[1];\nh q;\nbarrier q;\nmeasure q -> c;\ng q[1];\nx q[1];"
    error = refusal(source, TARGETS["ionq"])
    assert "g on qubit 1 comes after the measurement" in error.message
    assert error.line == 8


def test_the_line_is_that_of_the_statement_and_not_of_the_first_of_its_name() -> None:
    source = (
        STD
        + "qubit[3] q;\nbit[1] c;\nh q;\nfor int i in [0:1] {\n  x q[i];\n}\nx q[0];\nc[0] = measure q[2];\nx q[1];\nx q[2];"
    )
    assert refusal(source, TARGETS["qir"]).line == 12


@pytest.mark.parametrize("target", TARGETS)
def test_a_circuit_wider_than_its_target_is_refused(target: str) -> None:
    error = refusal(STD + "\nqubit[7] q;\nh q;", {**TARGETS[target], "num_qubits": 6})
    assert error.message == "circuit needs 7 qubits, the target has 6"
    assert error.line == 4


def test_a_gate_that_the_device_lacks_is_refused() -> None:
    error = refusal(
        STD + "qubit[2] q;\nh q[0];\ncx q[0], q[1];", {"format": "braket", "gates": ["rx", "ry", "rz", "i"]}
    )
    assert error.message == "target braket: cx on qubits 0, 1 cannot be written in the gates of Amazon Braket"
    assert error.line == 5


def test_a_basis_that_cannot_express_the_circuit_is_refused() -> None:
    error = refusal(
        STD + "qubit[2] q; h q[0]; cx q[0], q[1];", {"format": "ibm", "num_qubits": 3, "basis_gates": ["rz", "cz"]}
    )
    assert error.message.startswith("target ibm: the circuit cannot be compiled for this device")


def test_parts_of_a_device_that_are_not_connected_are_refused() -> None:
    target = {
        "format": "ibm",
        "num_qubits": 4,
        "basis_gates": ["rz", "sx", "x", "cz"],
        "coupling_map": [[0, 1], [2, 3]],
    }
    error = refusal(STD + "qubit[3] q; h q[0]; cx q[0], q[1]; cx q[1], q[2];", target)
    assert error.message.startswith("target ibm: ")


@pytest.mark.parametrize("target", ["ionq", "qir"])
def test_what_does_nothing_is_left_out_with_a_warning(target: str) -> None:
    answer = compiled(STD + "qubit[2] q; h q[0]; barrier q; id q[1];", TARGETS[target])
    assert len(answer["warnings"]) == 2
    assert any("barrier" in warning for warning in answer["warnings"])
    assert any("nothing" in warning for warning in answer["warnings"])


SOURCE = (
    STD
    + "qubit[3] q; bit[2] c; h q[0]; rx(0.1234567890123456) q[1]; cx q[0], q[1]; crz(0.7654321098765432) q[1], q[2]; ccx q[0], q[1], q[2]; s q[2]; c[0] = measure q[2]; c[1] = measure q[0];"
)
FORMATS = ("braket", "ionq", "qasm2", "quil", "qir", "ibm cz 0", "ibm fractional")


def _first(pattern: str, make: Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, make, text, count=1)


_ENTRY = r'\{"gate": "x", "controls": \[(\d)\], "targets": \[(\d)\]\}'
_CALL = r"(call void @__quantum__qis__cnot__body\()([^,]+), (.+)\)\n"
_LINE = r"((?:cx|cnot|cz|CNOT) )(\S+?)(,? )(\S+?)(;?)\n"
MISTAKES: dict[str, Callable[[str], str]] = {
    "drops a gate": lambda text: _first(rf"(?:{_ENTRY}, |  {_CALL}|{_LINE})", lambda _: "")(text),
    "turns a gate round": lambda text: _first(_LINE, lambda f: f"{f[1]}{f[4]}{f[3]}{f[2]}{f[5]}\n")(
        _first(_CALL, lambda f: f"{f[1]}{f[3]}, {f[2]})\n")(
            _first(_ENTRY, lambda f: f'{{"gate": "x", "controls": [{f[2]}], "targets": [{f[1]}]}}')(text)
        )
    ),
    "rounds angles": lambda text: re.sub(
        r"0x[0-9A-F]{16}", lambda f: f[0][:10] + "00000000", re.sub(r"\d\.\d{10,}", lambda f: f"{float(f[0]):.7f}", text)
    ),
    "does a gate twice": lambda text: _first(rf"(?:{_ENTRY}, |  {_CALL}|{_LINE})", lambda f: f[0] * 2)(text),
    "measures another qubit": lambda text: _first(
        r"(MEASURE |measure q\[|measure \$|mz__body\(ptr inttoptr \(i64 )(\d)", lambda f: f"{f[1]}{(int(f[2]) + 1) % 3}"
    )(text),
    "measures into another bit": lambda text: _first(r"(ro\[|-> c\[|\nb\[|\nc\[)(\d)", lambda f: f"{f[1]}{1 - int(f[2])}")(
        _first(r"(mz__body\(.*?, )ptr null", lambda f: f"{f[1]}ptr inttoptr (i64 1 to ptr)")(text)
    ),
}  # fmt: skip


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_writer_that_errs_is_caught(mistake: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if target == "ionq" and mistake.startswith("measures"):
        return  # IonQ's form has no measurements: its results contain every qubit.
    if target == "ibm cz 0" and mistake == "turns a gate round":
        return  # cz has no direction.
    module = importlib.import_module(f"qjs_executor.child.targets.{target.split()[0]}")
    read = module.read
    changed = []

    def wrong(text: str, *rest: Any) -> Any:
        mistaken = MISTAKES[mistake](text)
        changed.append(mistaken != text)
        return read(mistaken, *rest)

    compiled(SOURCE, TARGETS[target])
    monkeypatch.setattr(module, "read", wrong)
    if target == "ibm fractional" and mistake == "turns a gate round":
        compiled(SOURCE, TARGETS[target])  # Neither cz nor rzz has a direction.
    else:
        refusal(SOURCE, TARGETS[target])
    assert changed and all(changed)


BAD_TARGETS: list[tuple[Any, str]] = [
    (None, "target: must be an object"),
    ([], "target: must be an object"),
    ({}, "target.format: must be one of braket, ionq"),
    ({"format": "quipper"}, "target.format: must be one of .* \\(got 'quipper'\\)"),
    ({"format": ["ionq"]}, "target.format: must be one of"),
    ({"format": "ionq", "basis_gates": ["x"]}, "target.basis_gates: is not a field"),
    ({"format": "ionq", "num_qubits": 0}, "target.num_qubits: must be an integer from 1 to 1024 \\(got 0\\)"),
    ({"format": "ionq", "num_qubits": True}, "target.num_qubits: must be an integer"),
    ({"format": "ionq", "num_qubits": 36.0}, "target.num_qubits: must be an integer"),
    ({"format": "braket", "gates": []}, "target.gates: must be a list"),
    ({"format": "braket", "gates": ["x; y"]}, "target.gates\\[0\\]: must be the name of a gate"),
    ({"format": "qir", "profile": "adaptive_ri"}, "target.profile: must be base \\(got 'adaptive_ri'\\)"),
    ({"format": "ibm", "basis_gates": ["cz"]}, "target.num_qubits: must be an integer from 1 to 1024 \\(got nothing\\)"),
    ({"format": "ibm", "num_qubits": 2}, "target.basis_gates: must be a list"),
    ({"format": "ibm", "num_qubits": 2, "basis_gates": ["frob"]}, "target.basis_gates: must consist of .* \\(got 'frob'\\)"),
    ({"format": "ibm", "num_qubits": 2, "basis_gates": ["cz"], "coupling_map": [[0, 2]]}, "target.coupling_map\\[0\\]: must be .* from 0 to 1"),
    ({"format": "ibm", "num_qubits": 2, "basis_gates": ["cz"], "coupling_map": [[1, 1]]}, "target.coupling_map\\[0\\]"),
    ({"format": "ibm", "num_qubits": 2, "basis_gates": ["cz"], "coupling_map": "line"}, "target.coupling_map: must be a list"),
    ({"format": "ibm", "num_qubits": 2, "basis_gates": ["cz"], "optimization_level": 4}, "target.optimization_level: must be an integer from 0 to 3"),
    ({"format": "ibm", "num_qubits": 2, "basis_gates": ["cz"], "seed": -1}, "target.seed: must be an integer"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "message"), BAD_TARGETS)
def test_a_wrong_target_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        parse_target(value)


def test_a_backends_published_list_of_instructions_is_a_basis() -> None:
    target = parse_target(
        {"format": "ibm", "num_qubits": 2, "basis_gates": ["cz", "id", "rz", "sx", "x", "measure", "if_else", "delay"]}
    )
    assert target.basis_gates == ("cz", "id", "rz", "sx", "x")
