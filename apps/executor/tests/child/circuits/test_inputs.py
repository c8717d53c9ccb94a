"""Free parameters of circuits take their values from the job's parameters."""

from __future__ import annotations

from typing import Any

import pytest

from ...support.direct import QISKIT, STD, answer, refusal

ANSATZ = STD + "input float[64] theta; input angle phi;\nqubit[2] q; rx(2 * theta) q[0]; rx(phi - theta) q[1];"
PARAMETERS = (
    QISKIT
    + "from qiskit.circuit import Parameter\na, b = Parameter('theta'), Parameter('phi')\ncircuit = QuantumCircuit(2)\ncircuit.rx(2 * a, 0)\ncircuit.rx(b - a, 1)\ncircuit.measure_all()"
)
DIALECT = "OPENQASM 3.0;\ninput float theta; input float phi;\nqubit[2] q; rx(2 * theta) q[0]; rx(phi - theta) q[1]; cnot q[0], q[1]; cnot q[0], q[1];"
CIRQ = "import cirq, sympy\na, b = sympy.symbols('theta phi')\nq = cirq.LineQubit.range(2)\ncircuit = cirq.Circuit(cirq.rx(2 * a)(q[0]), cirq.rx(b - a)(q[1]))"
BRAKET = "from braket.circuits import Circuit, FreeParameter\na, b = FreeParameter('theta'), FreeParameter('phi')\ncircuit = Circuit().rx(0, 2 * a).rx(1, b - a)"


def with_params(**given: Any) -> dict[str, Any]:
    return {"params": {"shots": 100, "backend": "aer-statevector", **given}}


@pytest.mark.parametrize(
    ("framework", "code"),
    [("openqasm", ANSATZ), ("qiskit", PARAMETERS), ("marqov", DIALECT), ("cirq", CIRQ), ("marqov", BRAKET)],
)
def test_a_free_parameter_has_the_value_of_the_jobs_parameter_of_its_name(framework: str, code: str) -> None:
    for theta, phi, key in [
        (1.5707963267948966, 1.5707963267948966, "10"),
        (0, 3.141592653589793, "01"),
        (0.0, 0, "00"),
    ]:
        given = answer(framework, code, **with_params(theta=theta, phi=phi))
        if "found" in given:
            given = answer("openqasm", given["found"]["openqasm3"])
        assert given["counts"] == {key: 100}


def test_the_record_of_the_circuit_has_the_values() -> None:
    given = answer("openqasm", ANSATZ, **with_params(theta=0.25, phi=1))
    assert "rx(0.5) q[0];\nrx(0.75) q[1];" in given["circuit"]
    other = answer("openqasm", ANSATZ, **with_params(theta=0.25, phi=2))
    assert given["circuit_sha256"] != other["circuit_sha256"]


def test_a_circuit_that_the_program_runs_on_its_device_takes_them_too() -> None:
    code = f"text = '''{ANSATZ}'''\ndevice.run(text)"
    assert answer("qiskit", code, **with_params(theta=0, phi=3.141592653589793))["counts"] == {"01": 100}


def test_a_parameter_without_a_value_is_named() -> None:
    assert "the parameter phi has no value" in refusal("cirq", CIRQ, **with_params(theta=1)).message
    assert "the parameter phi of the circuit has no value" in refusal("marqov", BRAKET, **with_params(theta=1)).message
    error = refusal("openqasm", ANSATZ, **with_params(theta=1))
    assert (
        error.message
        == "unbound parameters: phi (operation 'rx' on qubit 1); give them values in the job's params, under these names"
    )


@pytest.mark.parametrize("value", ["0.5", True, None, [1], 10**400])
def test_a_value_that_is_no_finite_number_is_refused_by_name(value: Any) -> None:
    error = refusal("openqasm", ANSATZ, **with_params(theta=value, phi=1))
    assert error.message.startswith("params.theta: the circuit's parameter needs a number (got '")
