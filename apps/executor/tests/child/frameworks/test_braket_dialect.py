"""Programs in Amazon Braket's dialect of OpenQASM 3, under the framework that runs Braket."""

from __future__ import annotations

import importlib.util
import re

import numpy as np
import pytest
from qiskit.quantum_info import Operator

from qjs_executor.child.circuits.braket_dialect import VERBATIM_DROPPED, load_dialect
from qjs_executor.child.circuits.braket_gates import BODIES
from qjs_executor.child.circuits.openqasm import load
from qjs_executor.child.refusals import JobError

from ...support.direct import answer, refusal

HEAD = "OPENQASM 3;\nqubit[3] q;\nbit[3] b;\n"
TAIL = "b[0] = measure q[1];\nb[2] = measure q[0];\n"


def found(text: str) -> tuple[dict[str, int], list[str]]:
    """The counts of a program, whose circuit a second child runs, and its warnings."""
    left = answer("marqov", text)["found"]
    return answer("openqasm", left["openqasm3"])["counts"], left["warnings"]


def test_a_program_with_brakets_gates_and_no_include_runs_and_its_bits_keep_their_order() -> None:
    counts, warnings = found(HEAD + "x q[0];\ncnot q[0], q[2];\ni q;\nfor int k in [0:1] { si q[k]; }\n" + TAIL)
    assert (counts, warnings) == ({"001": 100}, [])


def test_a_reset_and_a_condition_mean_what_they_do_elsewhere() -> None:
    text = HEAD + "x q[0];\nb[1] = measure q[0];\nif (b[1] == 1) { x q[1]; }\nreset q[0];\n" + TAIL
    assert found(text)[0] == {"110": 100}


def test_a_verbatim_box_is_dropped_with_a_warning() -> None:
    text = HEAD + "x q[0];\n#pragma braket verbatim\nbox {\n  x q[1];\n}\n" + TAIL
    assert found(text) == ({"101": 100}, [VERBATIM_DROPPED])


def test_a_verbatim_box_is_not_sent_to_a_provider() -> None:
    with pytest.raises(JobError, match="verbatim boxes cannot be sent"):
        load_dialect(
            "OPENQASM 3; qubit q;\n#pragma braket verbatim\nbox { x q; }", 3, "iqm-garnet", at_provider=True, inputs={}
        )


@pytest.mark.parametrize(
    ("pragma", "named"),
    [
        ("noise bit_flip(0.1) q[0]", "params.noise_model"),
        ("result expectation x(q[0])", "write observables"),
        ("unitary([[1, 0], [0, 1]]) q[0]", "matrices in Python"),
        ("result probability q[0]", "is not supported"),
    ],
)
def test_a_pragma_that_changes_the_result_is_refused_by_name(pragma: str, named: str) -> None:
    error = refusal("marqov", f"{HEAD}x q[0];\n#pragma braket {pragma}\n")
    assert f"#pragma braket {pragma}"[:40] in error.message
    assert named in error.message
    assert error.line == 5


@pytest.mark.parametrize("text", [HEAD + "cnot q[0], q[1];", HEAD + "h q[0];", "OPENQASM 3;\nqubit q;\n\nh q;"])
def test_elsewhere_the_refusal_names_the_include_and_the_dialect(text: str) -> None:
    error = refusal("openqasm", text)
    assert 'include "stdgates.inc"' in error.message
    assert "framework marqov" in error.message
    assert error.line == 4


def test_a_program_with_an_include_is_ordinary_openqasm() -> None:
    program = HEAD.replace(";", '; include "stdgates.inc";', 1)
    assert answer("marqov", program + "x q[0]; cx q[0], q[1];" + TAIL)["counts"] == {"101": 100}
    assert "'cnot' is not defined" in refusal("marqov", program + "cnot q[0], q[1];").message


def test_a_gate_of_the_programs_own_hides_brakets() -> None:
    counts, _ = found(HEAD + "gate cnot a, c { x a; }\ncnot q[0], q[1];\n" + TAIL)
    assert counts == {"001": 100}


@pytest.mark.skipif(importlib.util.find_spec("braket") is None, reason="braket is not installed for this Python")
@pytest.mark.parametrize("name", BODIES)
def test_every_gate_of_the_dialect_is_brakets(name: str) -> None:
    from braket.circuits import Circuit

    body = BODIES[name]
    qubits = len(set(re.findall(r"\{\d\}", body)))
    angles = [0.3, -1.1, 0.7][: len(set(re.findall("%[abc]", body)))]
    values = f"({', '.join(map(str, angles))})" if angles else ""
    call = f"{name}{values} {', '.join(f'q[{k}]' for k in range(qubits))};"
    text = f"OPENQASM 3;\nqubit[{qubits}] q;\n{call}"
    circuit = load(load_dialect(text, 5, "local", at_provider=False, inputs={}).openqasm3, 5, "local")
    # Qiskit's matrices have qubit 0 as their least significant bit.
    ours = Operator(circuit.reverse_bits()).data
    theirs = Circuit.from_ir(text).to_unitary()
    assert abs(np.trace(ours.conj().T @ theirs)) == pytest.approx(2**qubits)
