"""How Python source becomes a result: main, the device, the circuit at module level, and the messages of mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from ...support.direct import QISKIT, answer, refusal

BELL = "circuit = QuantumCircuit(2)\ncircuit.h(0)\ncircuit.cx(0, 1)\n"
FLIP = "flip = QuantumCircuit(2)\nflip.x(0)\n"


def params(**given: Any) -> dict[str, Any]:
    """The params of a job, service-level names included."""
    return {"params": {"shots": 100, "backend": "aer-statevector", **given}}


def value(code: str, **given: Any) -> Any:
    """What a main returns as a result."""
    return answer("qiskit", QISKIT + code, **params(**given))["value"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def main():\n    return {'a': 1}", {"a": 1}),
        ("def main(theta):\n    return theta", 0.5),
        ("def main(shots, theta=1):\n    return [shots, theta]", [100, 0.5]),
        ("def main(*, theta, backend):\n    return {'theta': theta, 'backend': backend}", {"theta": 0.5, "backend": "aer-statevector"}),
        ("def main(**all):\n    return sorted(all)", ["backend", "shots", "theta"]),
        ("async def main(theta):\n    return theta", 0.5),
        ("def main(client, params):\n    return params['theta']", 0.5),
        ("async def main(client, params):\n    return params['shots']", 100),
        ("import numpy as np\ndef main(theta):\n    return {'mean': np.float64(1.5), 'list': np.arange(3), 'key': (1, 2)}", {"mean": 1.5, "list": [0, 1, 2], "key": [1, 2]}),
        ("def main(theta):\n    return {0: 10 ** 30}", {"0": 10**30}),
        ("def main(theta):\n    pass", None),
        ("def main(theta):\n    return 1 - 2j", [1.0, -2.0]),
        ("import numpy as np\ndef main():\n    return {'z': np.complex64(0.5j), 'rows': np.array([[1, 1j], [0, -1]])}",
         {"z": [0.0, 0.5], "rows": [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [-1.0, 0.0]]]}),
        ("from qiskit.quantum_info import Statevector\ndef main():\n    c = QuantumCircuit(1)\n    c.x(0)\n    c.s(0)\n    return {'state': Statevector(c)}",
         {"state": [[0.0, 0.0], [0.0, 1.0]]}),
        ("from qiskit.quantum_info import Operator, DensityMatrix\ndef main():\n    return [Operator([[0, 1], [1, 0]]), DensityMatrix([0, 1])]",
         [[[[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]], [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]]]]),
        ("import cirq\ndef main():\n    return cirq.Simulator().simulate(cirq.Circuit(cirq.X(cirq.q(0)), cirq.S(cirq.q(0)))).final_state_vector",
         [[0.0, 0.0], [0.0, 1.0]]),
        ("import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=1))\ndef f():\n    qml.X(0)\n    return qml.state()\ndef main():\n    return f()",
         [[0.0, 0.0], [1.0, 0.0]]),
    ],
)  # fmt: skip
def test_main_is_called_with_what_it_accepts_and_its_return_is_the_result(code: str, expected: Any) -> None:
    given = {} if "def main():" in code else {"theta": 0.5}
    assert value(code, **given) == expected


def test_a_param_that_main_does_not_accept_is_refused_naming_both() -> None:
    error = refusal("qiskit", "def main(theta, shots):\n    return 1", **params(theta=1, noise_model={}))
    assert error.message == "main() does not accept 'noise_model'; it accepts theta, shots"


def test_a_missing_argument_of_main_is_refused_by_name() -> None:
    assert "main() needs 'theta'" in refusal("qiskit", "def main(theta):\n    return 1").message


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("float('nan')", "nan is not a JSON number"),
        ("{'a': [object()]}", "main() returned['a'][0]: object cannot be part of a result"),
        ("{(1, 2): 3}", "a key of type tuple"),
        ("{'a': {1: 2, '1': 3}}", "main() returned['a']: two keys are written '1'"),
        ("[complex(0, float('inf'))]", "main() returned[0]: inf is not a JSON number"),
        ("[-(10 ** 4300)]", "main() returned[0]: an integer of more than 4300 digits"),
        ("['\\ud800']", "main() returned[0]: the text contains a lone surrogate"),
        ("{'a': {'\\udfff': 1}}", "main() returned['a']: the text contains a lone surrogate"),
        ("nested", "nested deeper than"),
    ],
)
def test_a_return_value_that_json_cannot_hold_is_refused_where_it_stands(returned: str, said: str) -> None:
    code = f"nested = []\nfor _ in range(5000): nested = [nested]\ndef main():\n    return {returned}"
    assert said in refusal("qiskit", code).message


def test_a_circuit_that_main_returns_is_run() -> None:
    given = answer("qiskit", QISKIT + "def main():\n    c = QuantumCircuit(2)\n    c.x(0)\n    return c")
    assert given["counts"] == {"10": 100}


def test_the_last_run_on_the_device_is_the_result_and_its_counts_reach_the_code() -> None:
    code = (
        QISKIT + BELL + FLIP + "device.run(circuit, 50)\ncounts = device.run(flip, 30)\nassert counts == {'10': 30}\n"
    )
    given = answer("qiskit", code)
    assert given["counts"] == {"10": 30}
    assert given["shots"] == 30


def test_the_device_takes_openqasm_text_and_the_jobs_shots_by_default() -> None:
    given = answer("qiskit", "device.run('OPENQASM 3.0; qubit[1] q;')")
    assert given["counts"] == {"0": 100}


@pytest.mark.parametrize(
    "call", ["device.run(7)", "device.run(flip, 0)", "device.run(flip, 100001)", "device.run(flip, '7')"]
)
def test_a_wrong_call_of_the_device_is_refused(call: str) -> None:
    assert "device.run" in refusal("qiskit", QISKIT + FLIP + call).message


def test_the_codes_own_name_device_hides_the_device() -> None:
    given = answer(
        "qiskit", QISKIT + "class Own:\n    def run(self, c): pass\ndevice = Own()\n" + FLIP + "device.run(flip)"
    )
    assert given["counts"] == {"10": 100}


def test_of_several_circuits_the_one_named_circuit_is_run_then_qc_then_the_last_with_a_warning() -> None:
    assert answer("qiskit", QISKIT + BELL.replace("circuit =", "circuit = ") + FLIP)["warnings"] == []
    assert answer("qiskit", QISKIT + FLIP + "qc = QuantumCircuit(1)")["counts"] == {"0": 100}
    given = answer("qiskit", QISKIT + FLIP + "later = QuantumCircuit(1)\nlater.x(0)")
    assert given["counts"] == {"1": 100}
    assert "'later', assigned last" in given["warnings"][0]


def test_code_without_a_circuit_says_how_to_name_one() -> None:
    message = refusal("qiskit", "x = 1").message
    assert message.startswith("No circuit found: assign your circuit to a variable named 'circuit'")


def test_an_error_shows_the_users_own_lines_and_no_others() -> None:
    code = "import json\ndef parse(text):\n    return json.loads(text)\n\nparse('{')\n"
    error = refusal("qiskit", code)
    assert error.line == 3
    assert error.message.splitlines()[1:] == ["  line 5: parse('{')", "  line 3, in parse: return json.loads(text)"]
    assert "site-packages" not in error.message


def test_what_only_looks_like_a_workflow_is_refused_by_name() -> None:
    marked = "def f(): pass\nf._is_workflow = True\n"
    assert refusal("qiskit", marked).message == (
        "'f' is not a workflow of the package 'marqov', which the script does not use"
    )
    assert (
        "several workflows were found (f, g)"
        in refusal("qiskit", marked + "def g(): pass\ng._is_workflow = True\n").message
    )


GUARDED = "calls = []\ndef main():\n    calls.append(1)\n    return len(calls)\n"


@pytest.mark.parametrize(
    "call",
    [
        "main()",
        "print(main())",
        "if __name__ == '__main__':\n    main()",
        "if '__main__' == __name__:\n    size = 3\n    print(main())",
    ],
)
def test_the_codes_own_call_of_main_is_not_a_second_run(call: str) -> None:
    assert value(GUARDED + call) == 1


def test_other_statements_behind_the_main_guard_run() -> None:
    assert value("def main():\n    return size\nif __name__ == '__main__':\n    size = 3\n    main()") == 3


def test_a_call_of_main_whose_value_the_code_uses_runs() -> None:
    assert value(GUARDED + "first = main()") == 2


def test_a_main_without_a_value_gets_a_warning_and_its_last_run_on_the_device_is_the_result() -> None:
    assert "main() returned nothing" in answer("qiskit", "def main():\n    pass")["warnings"][0]
    given = answer("qiskit", QISKIT + FLIP + "def main():\n    device.run(flip, 30)")
    assert given["counts"] == {"10": 30}
    assert given["shots"] == 30
    assert "last run on the device" in given["warnings"][0]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\ncircuit = QuantumCircuit(40)\ncircuit.h(0)\n", 3),
        ("for n in (1, 40):\n    circuit = QuantumCircuit(n)\n", 3),
        ("wide = QuantumCircuit(40)\n\ndevice.run(wide)\n", 4),
        ("def make():\n    return QuantumCircuit(40)\nother, circuit = 1, make()\n", 4),
    ],
)
def test_a_refused_circuit_is_shown_where_the_code_assigns_or_runs_it(code: str, line: int) -> None:
    error = refusal("qiskit", QISKIT + code)
    assert "circuit needs 40 qubits" in error.message
    assert error.line == line


def test_a_line_of_a_text_in_the_code_is_not_taken_for_a_line_of_the_code() -> None:
    text = '"""OPENQASM 2.0;\\ninclude "qelib1.inc";\\nqreg q[1];\\nbad q[0];"""'
    for code, line in ((f"x = 1\n\nprogram = {text}", 3), (f"\ndevice.run({text})", 2)):
        error = refusal("qiskit", code)
        assert error.message.endswith("(line 4 of the OpenQASM text)")
        assert error.line == line


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def build(n):\n    return QuantumCircuit(n)", "'build' makes one: call it, for example circuit = build(n)"),
        ("all = [QuantumCircuit(1)]", "'all' is a list of circuits; one job runs one: circuit = all[0]"),
        ("def area(n):\n    return n * n", "frameworks: qiskit"),
    ],
)
def test_code_without_a_circuit_says_where_one_might_be(code: str, said: str) -> None:
    assert said in refusal("qiskit", QISKIT + code).message


@pytest.mark.parametrize(
    "code", ["import no_such_package", "from json import no_such_name", "open('/no/such/folder/file.txt')"]
)
def test_no_path_of_the_machine_is_in_a_message(code: str) -> None:
    message = refusal("qiskit", code).message
    assert "site-packages" not in message
    assert "lib/python" not in message


def test_a_path_of_the_users_own_stays_in_the_message() -> None:
    assert "/no/such/folder/file.txt" in refusal("qiskit", "open('/no/such/folder/file.txt')").message


def test_a_process_can_run_a_thousand_programs_and_still_build_a_circuit() -> None:
    for _ in range(1_100):
        assert value("def main():\n    return 1") == 1
    assert sum(answer("qiskit", QISKIT + BELL)["counts"].values()) == 100
