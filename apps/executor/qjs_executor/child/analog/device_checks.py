"""Checks an analog program against the limits of a device that Amazon's validators do not know: numbers of sites and
atoms, rows, resolutions, steps of time, slew rates, phase, ends of a pulse, and local detuning.

The program is well formed by then: as many values as times, times that begin at 0, increase and end together.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any

from ..refusals import Unsupported
from .limits import DeviceLimits, Drive, Lattice, LocalDetuning, Range
from .numbers import difference, is_multiple, product

Series = dict[str, list[Decimal]]


def check_count(program: dict[str, Any], limits: DeviceLimits, num_qubits: int | None) -> None:
    """Checks how many sites and atoms there are, before any check that compares each with each. Raises Unsupported."""
    register = program["setup"]["ahs_register"]
    sites, atoms = len(register["sites"]), sum(register["filling"])
    where = "setup.ahs_register"
    if sites == 0:
        raise Unsupported(f"{where}.sites: must have at least one site")
    most = min(limits.lattice.sites_max, sites if num_qubits is None else num_qubits)
    if sites > most:
        raise Unsupported(f"{where}.sites: the device has at most {most} sites (got {sites})")
    if atoms > limits.atoms_max:
        raise Unsupported(f"{where}.filling: the device holds at most {limits.atoms_max} atoms (got {atoms})")
    if program["hamiltonian"]["localDetuning"] and limits.local is None:
        raise Unsupported("hamiltonian.localDetuning: the device has no local detuning; leave the list empty")


def check_for_device(program: dict[str, Any], limits: DeviceLimits) -> None:
    """Raises Unsupported with the place, the limit and the value."""
    sites = program["setup"]["ahs_register"]["sites"]
    _check_sites(sites, limits.lattice)
    for index, field in enumerate(program["hamiltonian"]["drivingFields"]):
        _check_drive(field, limits.drive, f"hamiltonian.drivingFields[{index}]")
    for index, field in enumerate(program["hamiltonian"]["localDetuning"]):
        if limits.local is not None:
            _check_local(field["magnitude"], sites, limits.local, f"hamiltonian.localDetuning[{index}].magnitude")


def _check_sites(sites: list[list[Decimal]], lattice: Lattice) -> None:
    where = "setup.ahs_register.sites"
    for index, site in enumerate(sites):
        for axis, coordinate in enumerate(site):
            _check_multiple(coordinate, lattice.resolution, "m", f"{where}[{index}][{axis}]")
    by_height = sorted(range(len(sites)), key=lambda index: sites[index][1])
    for below, above in pairwise(by_height):
        apart = difference(sites[above][1], sites[below][1])
        if 0 < apart < lattice.row_spacing:
            raise Unsupported(
                f"{where}: sites {below} and {above} are {apart} m apart in y; rows of the device are at least"
                f" {lattice.row_spacing} m apart, and sites of one row have the same y"
            )


def _check_drive(field: dict[str, Any], drive: Drive, where: str) -> None:
    amplitude, detuning, phase = (field[name]["time_series"] for name in ("amplitude", "detuning", "phase"))
    of_times = (drive.time_resolution, drive.time_step)
    _check_series(amplitude, (drive.rabi_resolution, "rad/s"), *of_times, f"{where}.amplitude")
    _check_series(detuning, (drive.detuning_resolution, "rad/s"), *of_times, f"{where}.detuning")
    _check_series(phase, (drive.phase_resolution, "rad"), *of_times, f"{where}.phase")
    _check_slew(amplitude, drive.rabi_slew, f"{where}.amplitude")
    _check_slew(detuning, drive.detuning_slew, f"{where}.detuning")
    _check_range(phase["values"], drive.phase, "rad", f"{where}.phase")
    _check_zero(amplitude["values"], (0, -1), f"{where}.amplitude")
    _check_zero(phase["values"], (0,), f"{where}.phase")
    duration = amplitude["times"][-1]
    if not drive.time_min <= duration <= drive.time_max:
        raise Unsupported(
            f"{where}: the device drives for {drive.time_min} to {drive.time_max} s (the program for {duration} s)"
        )


def _check_local(magnitude: dict[str, Any], sites: list[list[Decimal]], local: LocalDetuning, where: str) -> None:
    series, pattern = magnitude["time_series"], magnitude["pattern"]
    _check_series(series, (Decimal(0), "rad/s"), local.time_resolution, local.time_step, where)
    _check_slew(series, local.slew, where)
    _check_zero(series["values"], (0, -1), where)
    addressed = [index for index, coefficient in enumerate(pattern) if coefficient != 0]
    if len(addressed) > local.sites_max:
        raise Unsupported(
            f"{where}.pattern: the device detunes at most {local.sites_max} sites (got {len(addressed)} coefficients"
            " that are not 0)"
        )
    least = product(local.spacing, local.spacing)
    for place, one in enumerate(addressed):
        for other in addressed[place + 1 :]:
            apart = [difference(sites[one][axis], sites[other][axis]) for axis in (0, 1)]
            if sum((product(part, part) for part in apart), Decimal(0)) < least:
                raise Unsupported(
                    f"{where}.pattern: sites {one} and {other} are closer than {local.spacing} m, the least distance of"
                    " two sites with a coefficient that is not 0"
                )


def _check_series(
    series: Series, unit: tuple[Decimal, str], time_resolution: Decimal, time_step: Decimal, where: str
) -> None:
    for index, value in enumerate(series["values"]):
        _check_multiple(value, *unit, f"{where}.time_series.values[{index}]")
    for index, time in enumerate(series["times"]):
        _check_multiple(time, time_resolution, "s", f"{where}.time_series.times[{index}]")
    for index, (before, after) in enumerate(pairwise(series["times"])):
        if difference(after, before) < time_step:
            raise Unsupported(
                f"{where}.time_series.times[{index + 1}]: must be at least {time_step} s after the time before it"
                f" (got {difference(after, before)} s)"
            )


def _check_slew(series: Series, most: Decimal, where: str) -> None:
    points = pairwise(zip(series["times"], series["values"], strict=True))
    for index, ((start, first), (end, second)) in enumerate(points):
        rise, seconds = abs(difference(second, first)), difference(end, start)
        if rise > product(most, seconds):
            raise Unsupported(
                f"{where}.time_series.values[{index + 1}]: changes by {rise} within {seconds} s; the device's slew rate"
                f" is at most {most} per second"
            )


def _check_range(values: Iterable[Decimal], allowed: Range, unit: str, where: str) -> None:
    for index, value in enumerate(values):
        if not allowed[0] <= value <= allowed[1]:
            raise Unsupported(
                f"{where}.time_series.values[{index}]: must be from {allowed[0]} to {allowed[1]} {unit} (got {value})"
            )


def _check_zero(values: list[Decimal], places: tuple[int, ...], where: str) -> None:
    """Devices do not report this limit; it is a rule of Amazon's own emulator of them."""
    for place in places:
        if values[place] != 0:
            which = "first" if place == 0 else "last"
            raise Unsupported(f"{where}.time_series.values: the {which} one must be 0 (got {values[place]})")


def _check_multiple(value: Decimal, unit: Decimal, name: str, where: str) -> None:
    if not is_multiple(value, unit):
        raise Unsupported(f"{where}: must be a multiple of {unit} {name}, the device's resolution (got {value})")
