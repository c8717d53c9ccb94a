"""Random circuits mean the same in every language that can say them, on every engine, and after any round trip."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qjs_executor.child.circuits.canonical import canonical_text
from qjs_executor.child.circuits.measurement import measured_layout, with_measurements
from qjs_executor.child.engines.engine import simulate

from . import reference
from .bound import disagreement
from .circuit import Circuit
from .converters import WRITERS, canonical, check, read
from .random_circuits import dynamic_circuits, modified_gates, plain_gates, profile, unitary_circuits
from .writers.writing import Inexpressible

ENGINES = ("statevector", "density_matrix", "mps", "noisy")


def check_everywhere(circuit: Circuit) -> int:
    """Checks that every converter keeps the circuit exactly; returns how many languages can express it."""
    said = 0
    for language, write in WRITERS.items():
        try:
            program = write(circuit)
        except Inexpressible:
            continue
        check(circuit, canonical(language, program))
        said += 1
    return said


@profile(8)
@given(unitary_circuits(plain_gates))
def test_random_gates_mean_the_same_in_every_language(circuit: Circuit) -> None:
    assert check_everywhere(circuit) >= 6


@profile(8)
@given(unitary_circuits(plain_gates | modified_gates))
def test_random_modifiers_mean_the_same_in_every_language(circuit: Circuit) -> None:
    assert check_everywhere(circuit) >= 5


@profile(8)
@given(dynamic_circuits())
def test_random_measurement_reset_and_control_mean_the_same_in_every_language(circuit: Circuit) -> None:
    assert check_everywhere(circuit) >= 2


@profile(20)
@given(dynamic_circuits() | unitary_circuits(plain_gates | modified_gates))
def test_random_circuits_survive_being_read_and_written_again(circuit: Circuit) -> None:
    once = canonical_text(read(WRITERS["openqasm3"](circuit)))
    check(circuit, canonical_text(read(once)))


@profile(15)
@given(
    dynamic_circuits() | unitary_circuits(plain_gates | modified_gates),
    st.sampled_from(ENGINES),
    st.integers(0, 3),
    st.integers(0, 2**31),
)
def test_random_circuits_have_the_references_counts_on_every_engine(
    circuit: Circuit, engine: str, level: int, seed: int
) -> None:
    loaded = with_measurements(read(WRITERS["openqasm3"](circuit)))
    counts = measured_layout(loaded).counts(simulate(loaded, engine, 1000, seed, level, None))
    assert disagreement(counts, reference.probabilities(circuit), 1000) is None
