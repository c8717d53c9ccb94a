"""Results as the service gives them, typed. Integers stay exact; ``raw`` has everything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import notebook
from .errors import JobFailed


@dataclass(frozen=True)
class ExpectationValue:
    """The value of an observable. ``standard_error`` is 0 where it is exact, None where one shot says nothing."""

    observable: str
    value: float
    standard_error: float | None
    method: str


@dataclass(frozen=True)
class Register:
    """A part of the keys of the counts; ``qubits`` where one measurement writes each bit."""

    name: str
    size: int
    qubits: tuple[int, ...] | None


@dataclass(frozen=True)
class Result:
    """What one run gave. The keys of ``counts`` have qubit or bit 0 leftmost, those of an analog program a letter for
    each site (``e`` empty, ``g`` ground, ``r`` Rydberg); ``value`` is what a program returned."""

    raw: Mapping[str, Any] = field(repr=False)
    counts: Mapping[str, int] | None
    shots: int | None
    expectation_values: tuple[ExpectationValue, ...]
    registers: tuple[Register, ...]
    value: Any = None

    @classmethod
    def read(cls, raw: Mapping[str, Any], *, of_point: bool = False) -> Result:
        """From the result of a job or the fields of a point. What a program returned may look like counts without being
        any; only counts that the service vouches for have registers."""
        metadata = raw.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        registers = metadata.get("registers")
        of_circuit = isinstance(registers, Sequence) and isinstance(raw.get("counts"), Mapping)
        shots = raw.get("shots")
        return cls(
            raw=raw,
            counts=dict(raw["counts"]) if of_circuit else None,
            shots=shots if isinstance(shots, int) else None,
            expectation_values=tuple(_expectations(raw)) if of_circuit else (),
            registers=tuple(_register(one) for one in registers) if of_circuit else (),  # type: ignore[union-attr]
            value=None if of_circuit else raw.get("value") if of_point else _returned(raw),
        )

    @property
    def circuit_text(self) -> str | None:
        """A drawing of the circuit as it was run."""
        info = self.raw.get("circuit_info")
        drawing = info.get("diagram") if isinstance(info, Mapping) else None
        return drawing if isinstance(drawing, str) else None

    def _repr_html_(self) -> str:
        return notebook.result_html(self)


@dataclass(frozen=True)
class Point:
    """A point of a sweep: its ``result``, or the ``error`` with which it alone failed."""

    index: int
    params: Mapping[str, Any]
    result: Result | None
    error: Mapping[str, Any] | None


@dataclass(frozen=True)
class SweepResult(Sequence[Point]):
    """The points of a sweep in the order in which they were submitted."""

    raw: Mapping[str, Any] = field(repr=False)
    points: tuple[Point, ...]
    job_id: str = ""

    @classmethod
    def read(cls, raw: Mapping[str, Any], job_id: str = "") -> SweepResult:
        """From the result of a job."""
        points = sorted((_point(one) for one in raw["points"]), key=lambda point: point.index)
        return cls(raw, tuple(points), job_id)

    @property
    def failed(self) -> tuple[Point, ...]:
        """The points without a result."""
        return tuple(point for point in self.points if point.result is None)

    def result_of(self, index: int) -> Result:
        """The result of a point. Raises JobFailed if it failed."""
        point = self.points[index]
        if point.result is not None:
            return point.result
        error = point.error or {}
        message = f"point {point.index}: {error.get('message', 'no result')}"
        raise JobFailed(self.job_id, "completed", str(error.get("code", "execution_error")), message, point.index)

    def results(self) -> list[Result]:
        """The result of each point. Raises JobFailed for the first that failed."""
        return [self.result_of(index) for index in range(len(self.points))]

    def __getitem__(self, index: Any) -> Any:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def _repr_html_(self) -> str:
        return notebook.points_html(self)


def read_result(raw: Mapping[str, Any], job_id: str) -> Result | SweepResult:
    """Of a sweep or of a single run."""
    # A program can return points too, but the metadata are the service's own.
    metadata = raw.get("metadata")
    is_sweep = isinstance(metadata, Mapping) and metadata.get("sweep") is True
    return SweepResult.read(raw, job_id) if is_sweep else Result.read(raw)


def _point(raw: Mapping[str, Any]) -> Point:
    error = raw.get("error")
    return Point(
        index=raw["index"],
        params=raw.get("params") or {},
        result=None if error is not None else Result.read(raw, of_point=True),
        error=error,
    )


_OURS = ("shots", "backend", "execution_time_ms", "warnings", "metadata", "stdout")
"""What the service puts beside what a program returned."""


def _returned(raw: Mapping[str, Any]) -> Any:
    """What a program returned: the members of a dictionary, or one value, which stands under `result`."""
    rest = {name: value for name, value in raw.items() if name not in _OURS}
    return rest["result"] if rest.keys() == {"result"} else rest


def _expectations(raw: Mapping[str, Any]) -> Iterator[ExpectationValue]:
    for one in raw.get("expectation_values") or ():
        # Those that a framework's own circuit asks for have a name and a kind instead.
        if "observable" in one:
            yield ExpectationValue(one["observable"], one["value"], one["standard_error"], one["method"])


def _register(raw: Mapping[str, Any]) -> Register:
    qubits = raw.get("qubits")
    return Register(raw["name"], raw["size"], None if qubits is None else tuple(qubits))
