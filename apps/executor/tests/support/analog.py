"""Analog programs, and the limits of the device that runs them."""

from __future__ import annotations

import copy
import json
from typing import Any

AQUILA: dict[str, Any] = {
    "braketSchemaHeader": {"name": "braket.device_schema.quera.quera_ahs_paradigm_properties", "version": "1"},
    "qubitCount": 256,
    "lattice": {
        "area": {"width": 7.5e-05, "height": 7.6e-05},
        "geometry": {
            "spacingRadialMin": 4e-06,
            "spacingVerticalMin": 4e-06,
            "positionResolution": 1e-08,
            "numberSitesMax": 256,
        },
    },
    "rydberg": {
        "c6Coefficient": 5.42e-24,
        "rydbergGlobal": {
            "rabiFrequencyRange": [0.0, 15800000.0],
            "rabiFrequencyResolution": 400.0,
            "rabiFrequencySlewRateMax": 400000000000000.0,
            "detuningRange": [-125000000.0, 125000000.0],
            "detuningResolution": 0.2,
            "detuningSlewRateMax": 6000000000000000.0,
            "phaseRange": [-99.0, 99.0],
            "phaseResolution": 5e-07,
            "timeResolution": 1e-09,
            "timeDeltaMin": 5e-08,
            "timeMin": 0.0,
            "timeMax": 4e-06,
        },
    },
}
"""As GetDevice returns it, without its measured errors."""
LOCAL: dict[str, Any] = {
    "detuningRange": [0.0, 125000000.0],
    "detuningSlewRateMax": 1256600000000000.0,
    "siteCoefficientRange": [0.0, 1.0],
    "numberLocalDetuningSitesMax": 2,
    "spacingRadialMin": 5e-06,
    "timeResolution": 1e-09,
    "timeDeltaMin": 5e-08,
}
WITH_LOCAL = {**AQUILA, "rydberg": {**AQUILA["rydberg"], "rydbergLocal": LOCAL}}
TARGET = {"format": "ahs", "num_qubits": 256, "limits": AQUILA}
LOCAL_TARGET = {**TARGET, "limits": WITH_LOCAL}


def _series(values: list[str], times: list[str], pattern: Any = "uniform") -> dict[str, Any]:
    return {"time_series": {"values": values, "times": times}, "pattern": pattern}


PROGRAM: dict[str, Any] = {
    "braketSchemaHeader": {"name": "braket.ir.ahs.program", "version": "1"},
    "setup": {
        "ahs_register": {
            "sites": [["0", "0"], ["5.5e-6", "0.0"], ["0", "0.0000055"], ["5.5E-6", "5.5e-6"]],
            "filling": [1, 1, 1, 0],
        }
    },
    "hamiltonian": {
        "drivingFields": [
            {
                "amplitude": _series(["0", "15700000.0", "15700000.0", "0"], ["0", "1e-7", "3.9e-6", "4e-6"]),
                "phase": _series(["0", "0"], ["0", "4e-6"]),
                "detuning": _series(["-54000000.0", "54000000.0"], ["0", "0.000004"]),
            }
        ],
        "localDetuning": [],
    },
}
DETUNED = copy.deepcopy(PROGRAM)
DETUNED["hamiltonian"]["localDetuning"] = [
    {"magnitude": _series(["0", "2e7", "0"], ["0", "2e-6", "4e-6"], ["1", "0", "0.5", "0"])}
]


def text_of(program: dict[str, Any]) -> str:
    return json.dumps(program, indent=1)


def changed(program: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """A copy with another value at a place, such as `setup.ahs_register.sites.0`; `...` removes it."""
    copied = copy.deepcopy(program)
    *parents, last = place.split(".")
    at: Any = copied
    for name in parents:
        at = at[int(name)] if isinstance(at, list) else at[name]
    if value is ...:
        del at[last]
    else:
        at[int(last) if isinstance(at, list) else last] = value
    return copied
