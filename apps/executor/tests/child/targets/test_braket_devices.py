"""Circuits compiled for the devices of Amazon Braket, by the operations that each of them supports."""

from __future__ import annotations

import re
from typing import Any

import pytest
from braket.devices import LocalSimulator
from braket.ir.openqasm import Program as BraketProgram

from qjs_executor.child.refusals import Unsupported
from qjs_executor.child.targets.target import parse_target

from ...support.direct import STD
from ...support.targets_machine import agree, compiled, meant, outcome, text_of
from ...support.targets_rows import ROWS, scrambled, width

SIMULATED = [
    *("ccnot", "cnot", "cphaseshift", "cphaseshift00", "cphaseshift01", "cphaseshift10", "cswap", "cv", "cy", "cz"),
    *("ecr", "h", "i", "iswap", "pswap", "phaseshift", "rx", "ry", "rz", "s", "si", "swap", "t", "ti", "unitary"),
    *("v", "vi", "x", "xx", "xy", "y", "yy", "z", "zz"),
]
NOISE = ["amplitude_damping", "bit_flip", "depolarizing", "generalized_amplitude_damping", "kraus", "phase_flip"]
DEVICES: dict[str, dict[str, Any]] = {
    "IonQ Forte": {
        "num_qubits": 36,
        "measures_all": True,
        "gates": [
            *("x", "y", "z", "rx", "ry", "rz", "h", "cnot", "s", "si", "t", "ti", "v", "vi", "xx", "yy", "zz", "swap")
        ],
    },
    "IQM Garnet": {
        "num_qubits": 20,
        "gates": [
            *("ccnot", "cnot", "cphaseshift", "cphaseshift00", "cphaseshift01", "cphaseshift10", "cswap", "swap"),
            *("iswap", "pswap", "ecr", "cy", "cz", "xy", "xx", "yy", "zz", "h", "i", "phaseshift", "rx", "ry", "rz"),
            *("s", "si", "t", "ti", "v", "vi", "x", "y", "z"),
        ],
    },
    "Rigetti Cepheus": {
        "num_qubits": 108,
        "gates": [
            *("cz", "xy", "ccnot", "cnot", "cphaseshift", "cphaseshift00", "cphaseshift01", "cphaseshift10", "cswap"),
            *("h", "i", "iswap", "phaseshift", "pswap", "rx", "ry", "rz", "s", "si", "swap", "t", "ti", "x", "y", "z"),
        ],
    },
    "SV1": {"num_qubits": 34, "gates": SIMULATED},
    "DM1": {"num_qubits": 17, "gates": [*SIMULATED, *NOISE]},
}
"""As GetDevice lists them."""
ALL = {"format": "braket", **DEVICES["IonQ Forte"]}
SOME = [name for name in ROWS if name in ("w", "fourier", "toffoli", "fredkin", "ccz", "iswap", "trotter", "adder")]


def target_of(device: str) -> dict[str, Any]:
    return {"format": "braket", **DEVICES[device]}


def measured(program: str) -> list[tuple[int, int]]:
    return [(int(bit), int(qubit)) for bit, qubit in re.findall(r"b\[(\d+)\] = measure q\[(\d+)\];", program)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", SOME)
def test_a_circuit_keeps_its_meaning_in_the_operations_of_a_device(name: str, device: str) -> None:
    row = scrambled(ROWS[name])
    order = list(reversed(range(width(row))))
    answer = compiled(text_of(row, order), target_of(device))
    used = set(re.findall(r"^(\w+)(?:\(| q)", answer["program"], re.MULTILINE)) - {"qubit"}
    assert used <= set(DEVICES[device]["gates"])
    assert agree(outcome(answer), meant(row, order))


BITS = {
    "one of three": ("qubit[3] q; bit[1] c; x q[1]; h q[0]; c[0] = measure q[1];", {"1": 1.0}, [1]),
    "asymmetric": ("qubit[3] q; x q[0];", {"100": 1.0}, [0, 1, 2]),
    "crossed": (
        "qubit[4] q; bit[2] a; bit[3] b; x q[3]; x q[1]; b[0] = measure q[3]; a[1] = measure q[1]; b[2] = measure q[0]; a[0] = measure q[2];",
        {"01100": 1.0},
        [2, 1, 3, 4, 0],
    ),
    "nine qubits": ("qubit[9] q; bit[9] c; x q[0]; c = measure q;", {"100000000": 1.0}, list(range(9))),
}  # fmt: skip


@pytest.mark.parametrize("name", BITS)
def test_a_device_that_measures_all_qubits_gets_them_all_and_the_readout_picks_the_programs_bits(name: str) -> None:
    source, expected, bits = BITS[name]
    answer = compiled(f"{STD} {source}", ALL)
    count = int(re.findall(r"qubit\[(\d+)\] q;", source)[0])
    assert measured(answer["program"]) == [(qubit, qubit) for qubit in range(count)]
    assert answer["readout"] == {"kind": "qubits", "bits": bits, "registers": []}
    assert outcome(answer) == pytest.approx(expected)
    # The same circuit for a device that measures single qubits reads the same bits.
    subset = compiled(f"{STD} {source}", {**ALL, "measures_all": False})
    assert subset["readout"] == answer["readout"] and outcome(subset) == pytest.approx(expected)
    assert subset["registers"] == answer["registers"]


@pytest.mark.parametrize("name", BITS)
def test_amazons_simulator_answers_for_every_qubit_also_for_idle_ones(name: str) -> None:
    source, expected, _ = BITS[name]
    answer = compiled(f"{STD} {source}", ALL)
    result = LocalSimulator().run(BraketProgram(source=answer["program"]), shots=10).result()
    assert result.measured_qubits == list(range(len(result.measurements[0])))
    found = {"".join(map(str, [*row, 0])) for row in result.measurements}
    assert {"".join(own[bit] for bit in answer["readout"]["bits"]) for own in found} == set(expected)


def test_a_subset_is_measured_alone_where_the_device_can() -> None:
    answer = compiled(f"{STD} qubit[3] q; bit[2] c; c[0] = measure q[2]; c[1] = measure q[0];", target_of("IQM Garnet"))
    assert measured(answer["program"]) == [(0, 2), (1, 0)]
    assert answer["readout"]["bits"] == [2, 0]


@pytest.mark.parametrize("wrong", ["b[1] = measure q[2];", "b[2] = measure q[1];", ""])
def test_a_writer_that_measures_another_qubit_is_caught(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from qjs_executor.child.targets import braket

    read = braket.read
    monkeypatch.setattr(braket, "read", lambda text: read(text.replace("b[1] = measure q[1];", wrong)))
    with pytest.raises(Unsupported, match=r"cannot be written in the form of Amazon Braket|does more than"):
        compiled(f"{STD} qubit[3] q; bit[1] c; x q[0]; c[0] = measure q[0];", ALL)


HEAD = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
REFUSED = {
    "too wide": (
        "qubit[200] q;\nh q;",
        r"circuit needs 200 qubits, the target has \d+",
        3,
    ),
    "a measurement in the middle": (
        "qubit[2] q;\nbit[2] c;\nc[0] = measure q[0];\nx q[0];\nc[1] = measure q[1];",
        "x on qubit 0 comes after the measurement of qubit 0; Amazon Braket measures each qubit once, at the end",
        6,
    ),
    "if": (
        "qubit[2] q;\nbit[2] c;\nc[0] = measure q[0];\nif (c[0]) {\n  x q[1];\n}\nc[1] = measure q[1];",
        r"x on qubit 1 depends on a measured bit \(if\), which Amazon Braket does not have; measure at the end only",
        6,
    ),
    "reset": (
        "qubit[1] q;\nreset q[0];\nh q[0];",
        "reset on qubit 0 is a reset, which Amazon Braket does not have; use another qubit instead",
        4,
    ),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", REFUSED)
def test_what_no_device_does_is_refused_by_name_and_line(name: str, device: str) -> None:
    source, message, line = REFUSED[name]
    with pytest.raises(Unsupported, match=message) as caught:
        compiled(HEAD + source, target_of(device))
    assert caught.value.line == line


def test_a_gate_that_the_operations_of_a_device_cannot_express_is_refused() -> None:
    with pytest.raises(Unsupported) as caught:
        compiled(HEAD + "qubit[2] q;\nh q[0];\ncx q[0], q[1];", {"format": "braket", "gates": ["prx", "cz"]})
    assert "h on qubit 0 cannot be written in the gates of Amazon Braket" in caught.value.message
    assert caught.value.line == 4


@pytest.mark.parametrize("value", ["true", 1, None, []])
def test_measures_all_is_true_or_false(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^target\.measures_all: must be true or false"):
        parse_target({"format": "braket", "measures_all": value})
