"""The limits of a device for analog programs, parsed once from the `paradigm` object that Amazon Braket's GetDevice
returns (QueraAhsParadigmProperties). Imports nothing but the standard library: the service reads them too."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from .numbers import number_of

COUNT_MAX = 100_000
Range = tuple[Decimal, Decimal]


@dataclass(frozen=True)
class Lattice:
    """Where sites can be, in metres. `row_spacing` is between sites of different rows (y)."""

    width: Decimal
    height: Decimal
    spacing: Decimal
    row_spacing: Decimal
    resolution: Decimal
    sites_max: int


@dataclass(frozen=True)
class Drive:
    """What the driving field can be: rad/s for frequencies, rad for the phase, seconds for times."""

    rabi: Range
    rabi_resolution: Decimal
    rabi_slew: Decimal
    detuning: Range
    detuning_resolution: Decimal
    detuning_slew: Decimal
    phase: Range
    phase_resolution: Decimal
    time_resolution: Decimal
    time_step: Decimal
    time_min: Decimal
    time_max: Decimal


@dataclass(frozen=True)
class LocalDetuning:
    """What local detuning can be. `coefficient` is of a site, `spacing` between sites with one that is not 0."""

    detuning: Range
    slew: Decimal
    coefficient: Range
    sites_max: int
    spacing: Decimal
    time_resolution: Decimal
    time_step: Decimal


@dataclass(frozen=True)
class DeviceLimits:
    """All limits of a device; `local` is None where it has no local detuning."""

    atoms_max: int
    lattice: Lattice
    drive: Drive
    local: LocalDetuning | None


def limits_of(value: Any, where: str) -> DeviceLimits:
    """The limits in a JSON value; what is of no use here is ignored. Raises ValueError with the place and the fault."""
    paradigm = _Members(value, where)
    lattice = paradigm.object("lattice")
    rydberg = paradigm.object("rydberg")
    has_local = rydberg.members.get("rydbergLocal") is not None
    return DeviceLimits(
        paradigm.count("qubitCount"),
        _lattice(lattice.object("area"), lattice.object("geometry")),
        _drive(rydberg.object("rydbergGlobal")),
        _local(rydberg.object("rydbergLocal")) if has_local else None,
    )


def _lattice(area: _Members, geometry: _Members) -> Lattice:
    return Lattice(
        width=area.number("width"),
        height=area.number("height"),
        spacing=geometry.number("spacingRadialMin"),
        row_spacing=geometry.number("spacingVerticalMin"),
        resolution=geometry.number("positionResolution"),
        sites_max=geometry.count("numberSitesMax"),
    )


def _drive(given: _Members) -> Drive:
    return Drive(
        rabi=given.range("rabiFrequencyRange"),
        rabi_resolution=given.number("rabiFrequencyResolution"),
        rabi_slew=given.number("rabiFrequencySlewRateMax"),
        detuning=given.range("detuningRange"),
        detuning_resolution=given.number("detuningResolution"),
        detuning_slew=given.number("detuningSlewRateMax"),
        phase=given.range("phaseRange"),
        phase_resolution=given.number("phaseResolution"),
        time_resolution=given.number("timeResolution"),
        time_step=given.number("timeDeltaMin"),
        time_min=given.number("timeMin"),
        time_max=given.number("timeMax"),
    )


def _local(given: _Members) -> LocalDetuning:
    return LocalDetuning(
        detuning=given.range("detuningRange"),
        slew=given.number("detuningSlewRateMax"),
        coefficient=given.range("siteCoefficientRange"),
        sites_max=given.count("numberLocalDetuningSitesMax"),
        spacing=given.number("spacingRadialMin"),
        time_resolution=given.number("timeResolution"),
        time_step=given.number("timeDeltaMin"),
    )


class _Members:
    """The members of a JSON object, each read with its place."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            _refuse(where, "must be an object", value)
        self.members: dict[str, Any] = value
        self._where = where

    def object(self, name: str) -> _Members:
        return _Members(self.members.get(name), f"{self._where}.{name}")

    def number(self, name: str) -> Decimal:
        number = number_of(self.members.get(name))
        if number is None or number < 0:
            _refuse(f"{self._where}.{name}", "must be a number that is not negative", self.members.get(name))
        return number

    def count(self, name: str) -> int:
        number = number_of(self.members.get(name))
        if number is None or number != int(number) or not 0 <= number <= COUNT_MAX:
            _refuse(f"{self._where}.{name}", f"must be a whole number from 0 to {COUNT_MAX}", self.members.get(name))
        return int(number)

    def range(self, name: str) -> Range:
        value = self.members.get(name)
        ends = [number_of(end) for end in value] if isinstance(value, list) and len(value) == 2 else []
        if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0] > ends[1]:
            _refuse(f"{self._where}.{name}", "must be a list of the least and the greatest value", value)
        return ends[0], ends[1]


def _refuse(where: str, what: str, got: Any) -> NoReturn:
    shown = "nothing" if got is None else repr(got)[:80]
    raise ValueError(f"{where}: {what} (got {shown})")
