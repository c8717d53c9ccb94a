"""The noise model: what each of its fields does, against density matrices computed with numpy; and its refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import Gate
from qiskit_aer import AerSimulator

from qjs_executor.child.engines.aer_target import translated_for
from qjs_executor.child.engines.noise import parse_noise_model
from qjs_executor.child.engines.noise_channels import with_noise
from qjs_executor.child.refusals import JobError
from qjs_executor.service.run_request import params_of

from ...support.direct import QISKIT, STD, answer, counts, refusal
from ...support.noise_reference import CX, H, Matrix, Reference, X, within

SHOTS = 40_000


def density(circuit: QuantumCircuit, model: dict[str, Any], level: int = 0) -> Matrix:
    """What the product makes of a circuit, exactly, with qubit 0 as the leftmost factor."""
    noisy, noise = with_noise(circuit, parse_noise_model(model, 14), level)
    compiled = translated_for("density_matrix", noisy, 0)
    compiled.save_density_matrix()
    result = AerSimulator(method="density_matrix").run(compiled, noise_model=noise).result()
    assert result.success
    size = circuit.num_qubits
    rho = np.asarray(result.data(0)["density_matrix"]).reshape((2,) * 2 * size)
    order = [*reversed(range(size)), *reversed(range(size, 2 * size))]
    return rho.transpose(order).reshape(2**size, 2**size)


def circuit_of(num_qubits: int, *steps: tuple[Any, ...]) -> QuantumCircuit:
    circuit = QuantumCircuit(num_qubits)
    for name, *arguments in steps:
        getattr(circuit, name)(*arguments)
    return circuit


def same(found: Matrix, reference: Reference) -> bool:
    return bool(np.allclose(found, reference.rho, atol=1e-9))


@pytest.mark.parametrize("p", [0.0, 0.013, 0.5, 1.0])
def test_a_one_qubit_gate_is_depolarized_with_the_parameter(p: float) -> None:
    found = density(circuit_of(1, ("h", 0)), {"gate_errors": {"all_1q": p}})
    assert same(found, Reference(1).gate(H, 0).depolarize(p, 0))


def test_one_and_two_qubit_gates_have_errors_of_their_own() -> None:
    found = density(circuit_of(2, ("h", 0), ("cx", 0, 1)), {"gate_errors": {"all_1q": 0.1, "all_2q": 0.2}})
    assert same(found, Reference(2).gate(H, 0).depolarize(0.1, 0).gate(CX, 0, 1).depolarize(0.2, 0, 1))


def test_only_the_most_specific_gate_error_counts() -> None:
    model = {"gate_errors": {"all_1q": 0.1, "x": 0.2, "x@1": 0.3, "all_2q": 0.05, "cx@1,0": 0.4}}
    circuit = circuit_of(2, ("h", 0), ("x", 0), ("x", 1), ("cx", 0, 1), ("cx", 1, 0))
    expected = Reference(2).gate(H, 0).depolarize(0.1, 0).gate(X, 0).depolarize(0.2, 0).gate(X, 1).depolarize(0.3, 1)
    expected.gate(CX, 0, 1).depolarize(0.05, 0, 1).gate(CX, 1, 0).depolarize(0.4, 0, 1)
    assert same(density(circuit, model), expected)


@pytest.mark.parametrize(("key", "p"), [("cz@0,1", 0.3), ("cz@1,0", 0.3), ("cx@1,0", 0.0)])
def test_only_the_qubits_of_a_symmetric_gate_may_be_named_in_either_order(key: str, p: float) -> None:
    name = key[:2]
    matrix = CX if name == "cx" else np.diag([1, 1, 1, -1]).astype(complex)
    found = density(circuit_of(2, ("h", 0), (name, 0, 1)), {"gate_errors": {key: 0.3}})
    assert same(found, Reference(2).gate(H, 0).gate(matrix, 0, 1).depolarize(p, 0, 1))


@pytest.mark.parametrize("time_ns", [50.0, 400.0, 70_000.0])
@pytest.mark.parametrize(("t1", "t2"), [(50, None), (50, 30), (50, 50), (50, 70), (50, 100), (None, 40)])
def test_t1_and_t2_act_for_the_time_of_a_gate(time_ns: float, t1: float | None, t2: float | None) -> None:
    model: dict[str, Any] = {"gate_times_ns": {"h": time_ns}}
    model |= {"t1_us": t1} if t1 else {}
    model |= {"t2_us": t2} if t2 else {}
    expected = Reference(1).gate(H, 0).relax(0, time_ns, t1 or math.inf, t2)
    assert same(density(circuit_of(1, ("h", 0)), model), expected)


def test_gates_take_50_and_300_ns_unless_given_and_relax_only_their_own_qubits() -> None:
    circuit = circuit_of(3, ("h", 0), ("h", 2), ("cx", 0, 1), ("x", 1))
    expected = Reference(3).gate(H, 0).relax(0, 50, 20, 25).gate(H, 2).relax(2, 50, 20, 25)
    expected.gate(CX, 0, 1).relax(0, 300, 20, 25).relax(1, 300, 20, 25).gate(X, 1).relax(1, 75, 20, 25)
    assert same(density(circuit, {"t1_us": 20, "t2_us": 25, "gate_times_ns": {"x": 75}}), expected)


def test_times_by_qubit_leave_the_other_qubits_alone() -> None:
    circuit = circuit_of(2, ("h", 0), ("h", 1))
    expected = Reference(2).gate(H, 0).relax(0, 50, 10).gate(H, 1).relax(1, 50, math.inf, 7)
    assert same(density(circuit, {"t1_us": {"0": 10}, "t2_us": {"1": 7}}), expected)


def test_depolarizing_comes_before_relaxation() -> None:
    model = {"gate_errors": {"x": 0.2}, "t1_us": 1, "gate_times_ns": {"x": 500}}
    assert same(density(circuit_of(1, ("x", 0)), model), Reference(1).gate(X, 0).depolarize(0.2, 0).relax(0, 500, 1))


@pytest.mark.parametrize(("duration", "unit", "time_ns"), [(300, "ns", 300), (2, "us", 2000), (5e-7, "s", 500)])
def test_a_delay_relaxes_for_its_duration(duration: float, unit: str, time_ns: float) -> None:
    circuit = circuit_of(1, ("h", 0))
    circuit.delay(duration, 0, unit)
    expected = Reference(1).gate(H, 0).relax(0, 50, 3, 4).relax(0, time_ns, 3, 4)
    assert same(density(circuit, {"t1_us": 3, "t2_us": 4}), expected)


def test_a_gate_the_simulator_lacks_has_one_error_not_one_for_each_part() -> None:
    circuit = circuit_of(2, ("h", 0), ("crx", math.pi, 0, 1))
    crx: Matrix = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, -1j], [0, 0, -1j, 0]])
    expected = Reference(2).gate(H, 0).depolarize(0.1, 0).gate(crx, 0, 1).depolarize(0.2, 0, 1)
    assert same(density(circuit, {"gate_errors": {"all_1q": 0.1, "all_2q": 0.2}}), expected)


def test_a_three_qubit_gate_has_the_errors_of_its_parts_unless_it_is_named() -> None:
    circuit = circuit_of(3, ("x", 0), ("x", 1), ("ccx", 0, 1, 2))
    named = Reference(3).gate(X, 0).gate(X, 1).gate(X, 2).depolarize(0.25, 0, 1, 2)
    assert same(density(circuit, {"gate_errors": {"ccx": 0.25}}), named)
    parts, _ = with_noise(circuit, parse_noise_model({"gate_errors": {"all_2q": 0.02}}, 14), 0)
    assert (parts.count_ops()["qerror_loc"], parts.count_ops()["cx"]) == (6, 6)


def test_a_unitary_counts_as_one_gate_of_its_size() -> None:
    circuit = QuantumCircuit(3)
    circuit.unitary(H, [0])
    circuit.unitary(np.kron(X, X), [0, 1])
    circuit.unitary(np.kron(np.kron(H, X), H), [0, 1, 2])
    noisy, _ = with_noise(circuit, parse_noise_model({"gate_errors": {"all_2q": 0.02}}, 14), 0)
    gates = [item for item in noisy.data if item.operation.name not in ("qerror_loc", "kraus")]
    assert all(len(item.qubits) <= 2 for item in gates)
    assert noisy.count_ops()["qerror_loc"] == sum(len(item.qubits) == 2 for item in gates)
    whole = Reference(3).gate(H, 0).gate(X, 0).gate(X, 1).gate(H, 2).gate(X, 1).gate(H, 0)
    assert same(density(circuit, {}), whole)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_named_gate_is_kept_at_every_optimization_level(level: int) -> None:
    circuit = circuit_of(2, ("x", 0), ("x", 0), ("x", 0), ("cx", 0, 1), ("cx", 0, 1), ("swap", 0, 1))
    model = {"gate_errors": {"x": 0.1, "cx": 0.2, "swap": 0.3}}
    expected = Reference(2)
    for _ in range(3):
        expected.gate(X, 0).depolarize(0.1, 0)
    for _ in range(2):
        expected.gate(CX, 0, 1).depolarize(0.2, 0, 1)
    swap: Matrix = np.eye(4, dtype=complex)[[0, 2, 1, 3]]
    assert same(density(circuit, model, level), expected.gate(swap, 0, 1).depolarize(0.3, 0, 1))


def test_a_gate_of_the_users_own_is_one_gate_when_named_even_inside_another() -> None:
    inner = QuantumCircuit(2, name="flip")
    inner.x(0)
    inner.x(1)
    outer = QuantumCircuit(2, name="outer")
    outer.append(inner.to_gate(), [1, 0])
    circuit = QuantumCircuit(2)
    circuit.append(outer.to_gate(), [0, 1])
    expected = Reference(2).gate(X, 0).gate(X, 1).depolarize(0.3, 0, 1)
    assert same(density(circuit, {"gate_errors": {"flip": 0.3, "x": 0.9}}), expected)
    circuit = QuantumCircuit(2)
    circuit.append(outer.to_gate(), [0, 1])
    expected = Reference(2).gate(X, 0).depolarize(0.9, 0).gate(X, 1).depolarize(0.9, 1)
    assert same(density(circuit, {"gate_errors": {"x": 0.9}}), expected)


def test_a_gate_name_on_two_sizes_is_refused() -> None:
    circuit = QuantumCircuit(2)
    for size in (1, 2):
        gate = Gate("mine", size, [])
        gate.definition = QuantumCircuit(size)
        circuit.append(gate, range(size))
    with pytest.raises(JobError, match=r"gate_errors\.mine.* on 1 and on 2 qubits"):
        density(circuit, {"gate_errors": {"mine": 0.1}})


def test_random_circuits_have_the_reference_density_matrix() -> None:
    dice = np.random.default_rng(11)
    model = {
        "gate_errors": {"all_1q": 0.02, "all_2q": 0.05, "h@1": 0.1, "cx@2,0": 0.2},
        "t1_us": {"0": 3, "1": 5},
        "t2_us": {"0": 5, "2": 2},
    }
    times = {0: (3.0, 5.0), 1: (5.0, None), 2: (math.inf, 2.0)}
    for _ in range(10):
        circuit, expected = QuantumCircuit(3), Reference(3)
        for _ in range(12):
            a, b = (int(qubit) for qubit in dice.choice(3, 2, replace=False))
            if dice.random() < 0.5:
                circuit.h(a)
                expected.gate(H, a).depolarize(0.1 if a == 1 else 0.02, a).relax(a, 50, *times[a])
            else:
                circuit.cx(a, b)
                expected.gate(CX, a, b).depolarize(0.2 if (a, b) == (2, 0) else 0.05, a, b)
                expected.relax(a, 300, *times[a]).relax(b, 300, *times[b])
        assert same(density(circuit, model), expected)


BELL = STD + "qubit[2] q; bit[2] c; h q[0]; cx q[0], q[1]; c = measure q;"
FULL = {
    "gate_errors": {"all_1q": 0.05, "all_2q": 0.1},
    "readout_errors": {"all": {"p0_given1": 0.04, "p1_given0": 0.01}, "1": {"p0_given1": 0.2}},
    "t1_us": 5,
    "t2_us": 8,
}


def bell_reference() -> Reference:
    expected = Reference(2).gate(H, 0).depolarize(0.05, 0).relax(0, 50, 5, 8)
    expected.gate(CX, 0, 1).depolarize(0.1, 0, 1)
    for qubit in (0, 1):
        expected.relax(qubit, 300, 5, 8).relax(qubit, 1000, 5, 8)
    return expected.misread(0, 0.04, 0.01).misread(1, 0.2, 0)


@pytest.mark.parametrize("engine", ["noisy", "density_matrix"])
def test_the_whole_model_shows_in_the_counts(engine: str) -> None:
    given = counts("openqasm", BELL, engine=engine, noise_model=FULL, shots=SHOTS, seed=5)
    assert within(given, bell_reference().probabilities())


def test_trajectories_give_the_same_distribution_as_the_density_matrix() -> None:
    # The measurement of the third qubit on the way leaves only trajectories.
    code = STD + "qubit[3] q; bit[2] c; bit d; d = measure q[2]; x q[2]; h q[0]; cx q[0], q[1]; c = measure q[0:1];"
    given = counts("openqasm", code, engine="noisy", noise_model=FULL, shots=SHOTS, seed=5)
    pairs: dict[str, int] = {}
    for key, count in given.items():
        pairs[key[:2]] = pairs.get(key[:2], 0) + count
    assert within(pairs, bell_reference().probabilities())


def test_a_measurement_is_preceded_by_relaxation_for_the_readout_time() -> None:
    given = counts("openqasm", STD + "qubit q; x q;", engine="noisy", noise_model={"t1_us": 2}, shots=SHOTS, seed=1)
    assert within(given, Reference(1).gate(X, 0).relax(0, 1050, 2).probabilities())


def test_readout_errors_are_by_qubit_whatever_bit_they_are_read_into() -> None:
    code = STD + "qubit[2] q; bit[2] c; x q[1]; c[0] = measure q[1]; c[1] = measure q[0];"
    model = {"readout_errors": {"1": {"p0_given1": 0.25}}}
    given = counts("openqasm", code, engine="noisy", noise_model=model, shots=SHOTS, seed=1)
    assert within(given, {"10": 0.75, "00": 0.25})


@pytest.mark.parametrize("engine", ["noisy", "density_matrix"])
def test_noise_acts_inside_classical_control_on_the_qubits_it_names(engine: str) -> None:
    code = (
        STD
        + "qubit[3] q; bit c; bit[2] d; x q[0]; c = measure q[0]; if (c) { x q[2]; } else { x q[1]; } d = measure q[1:2];"
    )
    model = {"gate_errors": {"x@2": 0.4, "x@1": 1.0}}
    given = counts("openqasm", code, engine=engine, noise_model=model, shots=4000, seed=1)
    assert within(given, {"101": 0.8, "100": 0.2})


def test_a_wrong_reading_decides_what_follows() -> None:
    code = STD + "qubit[2] q; bit c; bit d; c = measure q[0]; if (c) { x q[1]; } d = measure q[1];"
    model = {"readout_errors": {"0": {"p1_given0": 0.3}}}
    assert within(
        counts("openqasm", code, engine="noisy", noise_model=model, shots=SHOTS, seed=1), {"00": 0.7, "11": 0.3}
    )


@pytest.mark.parametrize(
    ("params", "level"),
    [
        ({}, 1),
        ({"noise_model": {}}, 0),
        ({"noise_model": {}, "optimization_level": 2}, 2),
        ({"optimization_level": 0}, 0),
    ],
)
def test_a_run_is_optimised_unless_it_has_noise_or_asks_for_a_level(params: dict[str, Any], level: int) -> None:
    assert params_of({"shots": 1, **params}).optimization_level == level


def test_noise_meets_the_gates_that_the_level_leaves() -> None:
    code, model = STD + "qubit q; x q; x q;", {"gate_errors": {"all_1q": 1.0}}
    given = counts("openqasm", code, engine="noisy", noise_model=model, shots=SHOTS, seed=1)
    assert within(given, {"0": 0.5, "1": 0.5})
    assert counts("openqasm", code, engine="noisy", noise_model=model, optimization_level=1) == {"0": 100}


def test_without_a_noise_model_the_noisy_engine_is_exact() -> None:
    assert counts("openqasm", STD + "qubit[2] q; x q[1];", engine="noisy") == {"01": 100}


def test_a_channel_in_the_circuit_itself_acts_and_has_no_gate_error() -> None:
    code = (
        QISKIT
        + "from qiskit_aer.noise import pauli_error\ncircuit = QuantumCircuit(1, 1)\ncircuit.append(pauli_error([('X', 0.3), ('I', 0.7)]), [0])\ncircuit.measure(0, 0)"
    )
    given = counts("qiskit", code, engine="noisy", noise_model={"gate_errors": {"all_1q": 1}}, shots=SHOTS, seed=1)
    assert within(given, {"0": 0.7, "1": 0.3})


def test_a_named_gate_that_the_circuit_lacks_is_a_warning() -> None:
    given = answer("openqasm", BELL, engine="noisy", noise_model={"gate_errors": {"cz": 0.1, "h@0": 0.1}})
    assert [text for text in given["warnings"] if "noise_model" in text] == [
        "noise_model: the circuit has no gate 'cz'"
    ]


@pytest.mark.parametrize("engine", ["statevector", "mps"])
def test_a_backend_without_noise_refuses_a_noise_model(engine: str) -> None:
    assert "noise_model: this backend has no noise" in refusal("openqasm", BELL, engine=engine, noise_model={}).message


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ([], "noise_model: must be an object"),
        ({"gate_error": {}}, "noise_model.gate_error: unknown field; known are gate_errors, "),
        ({"gate_errors": 0.1}, "noise_model.gate_errors: must be an object"),
        ({"gate_errors": {"all_1q": 1.1}}, "noise_model.gate_errors.all_1q: must be from 0 to 1, is 1.1"),
        ({"gate_errors": {"x": -0.1}}, "noise_model.gate_errors.x: must be from 0 to 1, is -0.1"),
        ({"gate_errors": {"x": True}}, "noise_model.gate_errors.x: must be a number"),
        ({"gate_errors": {"x": float("nan")}}, "noise_model.gate_errors.x: must be a number"),
        ({"gate_errors": {"x": 10**400}}, "noise_model.gate_errors.x: must be from 0 to 1"),
        ({"gate_errors": {"cx@0": 0.1}}, "noise_model.gate_errors.cx@0: gate 'cx' acts on 2 qubits, 1 are named"),
        ({"gate_errors": {"cx@0,0": 0.1}}, "names a qubit twice"),
        ({"gate_errors": {"cx@0,14": 0.1}}, "noise_model.gate_errors.cx@0,14: the backend has the qubits 0 to 13"),
        ({"gate_errors": {"cx@0;1": 0.1}}, "must be all_1q, all_2q, a gate, or a gate and its qubits"),
        ({"gate_errors": {"measure": 0.1}}, "noise_model.gate_errors.measure: 'measure' is not a gate"),
        ({"readout_errors": {"all": 0.1}}, "noise_model.readout_errors.all: must be an object"),
        ({"readout_errors": {"all": {"p01": 0.1}}}, "noise_model.readout_errors.all.p01: unknown field"),
        ({"readout_errors": {"0": {"p0_given1": 2}}}, "noise_model.readout_errors.0.p0_given1: must be from 0 to 1"),
        ({"readout_errors": {"first": {}}}, "noise_model.readout_errors.first: 'first' is not the number of a qubit"),
        ({"t1_us": 0}, "noise_model.t1_us: must be above 0"),
        ({"t1_us": "50"}, "noise_model.t1_us: must be a number"),
        ({"t1_us": {"01": 5}}, "noise_model.t1_us.01: '01' is not the number of a qubit"),
        ({"t1_us": 10, "t2_us": 21}, "noise_model.t2_us: T2 is at most 2 T1; T2 is 21, T1 is 10"),
        ({"t1_us": {"1": 10}, "t2_us": 21}, "noise_model.t2_us.1: T2 is at most 2 T1"),
        ({"t1_us": 10, "t2_us": {"3": 21}}, "noise_model.t2_us.3: T2 is at most 2 T1"),
        ({"gate_times_ns": {"x": -1}}, "noise_model.gate_times_ns.x: must be from 0"),
        ({"gate_times_ns": {"x@0": 1}}, "noise_model.gate_times_ns.x@0: must be the name of a gate"),
    ],
)  # fmt: skip
def test_a_wrong_noise_model_is_refused_naming_the_field(model: Any, message: str) -> None:
    error = refusal("openqasm", BELL, engine="noisy", noise_model=model, max_qubits=14)
    assert message in error.message


def test_a_delay_without_a_length_in_time_is_refused_when_it_would_matter() -> None:
    code = QISKIT + "circuit = QuantumCircuit(1)\ncircuit.delay(100, 0, 'dt')"
    assert (
        "'delay' on qubit 0 is given in 'dt'"
        in refusal("qiskit", code, engine="noisy", noise_model={"t1_us": 1}).message
    )
    assert counts("qiskit", code, engine="noisy", noise_model={"gate_errors": {"x": 0.1}}) == {"0": 100}
