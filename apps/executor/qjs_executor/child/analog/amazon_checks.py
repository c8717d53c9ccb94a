"""Checks an analog program with Amazon's schema and validators, those of its simulator.

The validators raise for what is malformed and only warn for what is out of range, against constants of the simulator.
Here they get the limits of the device, and each warning is a refusal. They run part by part, so that each refusal says
where it stands.
"""

from __future__ import annotations

import re
import warnings
from decimal import Decimal
from typing import Any

from braket.analog_hamiltonian_simulator.rydberg.validators.atom_arrangement import AtomArrangementValidator
from braket.analog_hamiltonian_simulator.rydberg.validators.capabilities_constants import CapabilitiesConstants
from braket.analog_hamiltonian_simulator.rydberg.validators.driving_field import DrivingFieldValidator
from braket.analog_hamiltonian_simulator.rydberg.validators.hamiltonian import HamiltonianValidator
from braket.analog_hamiltonian_simulator.rydberg.validators.local_detuning import LocalDetuningValidator
from braket.analog_hamiltonian_simulator.rydberg.validators.physical_field import PhysicalFieldValidator
from braket.analog_hamiltonian_simulator.rydberg.validators.program import ProgramValidator
from braket.analog_hamiltonian_simulator.rydberg.validators.times_series import TimeSeriesValidator
from braket.ir.ahs.program_v1 import Program
from pydantic.v1 import ValidationError

from ..refusals import Unsupported
from .limits import DeviceLimits

_NONE = (Decimal(0), Decimal(0))
_MESSAGE_MAX = 400


def check_by_amazon(program: dict[str, Any], limits: DeviceLimits) -> None:
    """Raises Unsupported for a program that Amazon's schema or validators do not accept within a device's limits."""
    _checked("the analog program", Program, program)
    constants = _constants(limits)
    register = program["setup"]["ahs_register"]
    hamiltonian = program["hamiltonian"]
    _checked("setup.ahs_register", AtomArrangementValidator, register, capabilities=constants)
    for where, validator, field in _fields(hamiltonian):
        for name, physical in field.items():
            place = f"{where}.{name}"
            _checked(f"{place}.time_series", TimeSeriesValidator, physical["time_series"], capabilities=constants)
            _checked(place, PhysicalFieldValidator, physical)
        _checked(where, validator, field, capabilities=constants)
    _checked("hamiltonian", HamiltonianValidator, hamiltonian)
    _checked("hamiltonian.localDetuning", ProgramValidator, program, capabilities=constants)


def _fields(hamiltonian: dict[str, Any]) -> list[tuple[str, Any, dict[str, Any]]]:
    return [
        (f"hamiltonian.{name}[{index}]", validator, field)
        for name, validator in (("drivingFields", DrivingFieldValidator), ("localDetuning", LocalDetuningValidator))
        for index, field in enumerate(hamiltonian[name])
    ]


def _checked(where: str, validator: Any, values: dict[str, Any], **more: Any) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            validator(**values, **more)
        except ValidationError as error:
            raise Unsupported(f"{where}: {_shown(error.errors()[0]['msg'])}") from None
        except Exception as error:
            # The validators take their input for checked already, and fail at what is not.
            raise Unsupported(f"{where}: {type(error).__name__}: {_shown(str(error))}") from None
    if warned:
        more_of_them = f" (and {len(warned) - 1} more)" if len(warned) > 1 else ""
        raise Unsupported(f"{where}: {_shown(str(warned[0].message))}{more_of_them}")


def _shown(message: str) -> str:
    """One line, with the device's limit under that name: the simulator calls it the typical scale."""
    line = re.sub(r"\s+", " ", message).replace("the typical scale", "the device's limit")
    return line.replace("the typical range", "the device's range")[:_MESSAGE_MAX]


def _constants(limits: DeviceLimits) -> CapabilitiesConstants:
    drive, local = limits.drive, limits.local
    detuning = _NONE if local is None else local.detuning
    coefficient = _NONE if local is None else local.coefficient
    return CapabilitiesConstants(
        BOUNDING_BOX_SIZE_X=limits.lattice.width,
        BOUNDING_BOX_SIZE_Y=limits.lattice.height,
        MAX_TIME=drive.time_max,
        MIN_DISTANCE=limits.lattice.spacing,
        GLOBAL_AMPLITUDE_VALUE_MIN=drive.rabi[0],
        GLOBAL_AMPLITUDE_VALUE_MAX=drive.rabi[1],
        GLOBAL_DETUNING_VALUE_MIN=drive.detuning[0],
        GLOBAL_DETUNING_VALUE_MAX=drive.detuning[1],
        LOCAL_MAGNITUDE_SEQUENCE_VALUE_MIN=detuning[0],
        LOCAL_MAGNITUDE_SEQUENCE_VALUE_MAX=detuning[1],
        MAGNITUDE_PATTERN_VALUE_MIN=coefficient[0],
        MAGNITUDE_PATTERN_VALUE_MAX=coefficient[1],
        MAX_NET_DETUNING=_net_detuning(limits),
    )


def _net_detuning(limits: DeviceLimits) -> Decimal:
    """Devices limit each detuning alone, so this is what both can be together; the simulator has a limit of its own,
    for its solver."""
    most = max(map(abs, limits.drive.detuning))
    if limits.local is None:
        return most
    # The validator adds up doubles.
    return (most + max(map(abs, limits.local.detuning)) * max(map(abs, limits.local.coefficient))) * Decimal("1.000001")
