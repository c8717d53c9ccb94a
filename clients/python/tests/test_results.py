"""How results are read, and how they look in a notebook."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quantum_job_service import JobFailed, Result, SweepResult
from quantum_job_service._runs import shots_of
from quantum_job_service.results import read_result
from quantum_job_service.submissions import PAYLOAD_BYTES_MAX, Circuit, in_sweeps, submission


def of_counts(counts: dict[str, int], **more: Any) -> dict[str, Any]:
    registers = [{"name": "c", "size": len(next(iter(counts))), "qubits": [0]}]
    return {"counts": counts, "shots": sum(counts.values()), "metadata": {"registers": registers}, **more}


SWEEP = {
    "points": [
        {"index": 1, "params": {"theta": 0.2}, "error": {"code": "execution_error", "message": "no state"}},
        {"index": 0, **of_counts({"0": 3, "1": 1})},
        {"index": 2, "params": {"theta": 0.3}, "value": 2**70},
    ],
    "total_points": 3,
    "failed_points": [1],
    "execution_time_ms": 5.0,
    "metadata": {"sweep": True, "bit_order": "qubit 0 leftmost"},
}


def test_points_come_in_their_order_and_a_failed_one_names_itself() -> None:
    sweep = read_result(SWEEP, "job-1")
    assert isinstance(sweep, SweepResult)
    assert [point.index for point in sweep] == [0, 1, 2]
    assert sweep[0].params == {}
    assert sweep[0].result.counts == {"0": 3, "1": 1}
    assert sweep[2].result.value == 2**70
    assert [point.index for point in sweep.failed] == [1]
    assert sweep.result_of(2).value == 2**70
    with pytest.raises(JobFailed, match="point 1: no state") as caught:
        sweep.results()
    assert (caught.value.point, caught.value.code, caught.value.job_id) == (1, "execution_error", "job-1")


def test_what_a_program_returns_is_no_counts_of_the_service() -> None:
    result = Result.read({"counts": {"00": "many"}, "metadata": {"registers": None}})
    assert result.counts is None
    assert result.value == {"counts": {"00": "many"}}
    assert Result.read({"result": 3, "shots": None, "metadata": {}}).value == 3
    assert Result.read({"result": 3, "value": 4, "metadata": {}}).value == {"result": 3, "value": 4}
    assert isinstance(read_result({"points": [], "total_points": 0, "metadata": {}}, "job-1"), Result)


def test_expectation_values_have_their_errors() -> None:
    entry = {"observable": "ZZ", "value": 0.5, "standard_error": None, "method": "sampled"}
    [value] = Result.read(of_counts({"00": 1}, expectation_values=[entry])).expectation_values
    assert (value.observable, value.value, value.standard_error, value.method) == ("ZZ", 0.5, None, "sampled")


def test_notebooks_show_a_histogram_values_and_the_circuit_escaped() -> None:
    entry = {"observable": "<i>", "value": 0.5, "standard_error": 0.01, "method": "sampled"}
    info = {"diagram": "q: <script>alert(1)</script>"}
    html = Result.read(of_counts({"00": 1, "11": 3}, expectation_values=[entry], circuit_info=info))._repr_html_()
    assert "75.0%" in html
    assert "± 0.01" in html
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert "<i>" not in html
    assert "<b>hostile" not in Result.read({"result": "<b>hostile"})._repr_html_()


def test_notebooks_show_a_table_of_points_and_count_those_left_out() -> None:
    html = SweepResult.read(SWEEP)._repr_html_()
    assert "0: 3" in html
    assert "no state" in html
    assert "0.3" in html
    many = {"points": [{"index": index, "value": "<u>"} for index in range(1000)], "total_points": 1000}
    long = SweepResult.read(many)._repr_html_()
    assert "968 more points" in long
    assert "<u>" not in long
    assert "more outcomes" in Result.read(of_counts({f"{key:08b}": 1 for key in range(256)}))._repr_html_()


def test_shots_are_those_of_the_counts_in_an_order_that_only_they_decide() -> None:
    counts = {"010": 40, "111": 60}
    shots = shots_of(Result.read(of_counts(counts)))
    assert {key: int(sum("".join(map(str, row)) == key for row in shots)) for key in counts} == counts
    assert (shots == shots_of(Result.read(of_counts(dict(reversed(counts.items())))))).all()
    # Not sorted: half of the shots stand for the whole.
    assert 10 < int(np.sum(shots[:50, 0])) < 50


def test_a_submission_names_exactly_one_program() -> None:
    for options in ({}, {"code": "x", "circuits": ["OPENQASM 3.0;"]}):
        with pytest.raises(ValueError, match="exactly one program"):
            submission(None, **options)
    body = submission("// two\nOPENQASM 2.0;", shots=5, seed=3, params={"theta": 0.5}, points=[{"theta": 1}], name=None)
    assert body == {
        "backend": "local",
        "circuit": {"format": "qasm2", "payload": "// two\nOPENQASM 2.0;"},
        "params": {"theta": 0.5, "shots": 5, "seed": 3, "points": [{"theta": 1}]},
    }
    analog = '{"braketSchemaHeader": {"name": "braket.ir.ahs.program", "version": "1"}}'
    assert submission(analog)["circuit"] == {"format": "ahs", "payload": analog}
    assert submission(None, circuits=["qubit q;", Circuit("OPENQASM 2.0;", {"shots": 2})])["circuits"] == [
        {"format": "qasm3", "payload": "qubit q;"},
        {"format": "qasm2", "payload": "OPENQASM 2.0;", "params": {"shots": 2}},
    ]


def test_many_circuits_are_sent_in_as_few_sweeps_as_the_service_takes() -> None:
    small = [Circuit("x")] * 1001
    assert [len(group) for group in in_sweeps(small)] == [1000, 1]
    half = Circuit("é" * (PAYLOAD_BYTES_MAX // 4))
    assert [len(group) for group in in_sweeps([half, half, half])] == [2, 1]
    assert in_sweeps([]) == []
