"""The published figures of quantum computers, and the noise models that follow from them.

`device_figures.json` holds, by the slug of a backend: the average errors of one- and two-qubit gates as benchmarks
measure them, the readout error (null where none is published), and their source and date. Capsules and reruns name a
slug, so its figures never change: newer ones get a name of their own, such as `iqm-garnet@2027-01`.

Times (T1, T2) are left out on purpose. Benchmarks of gates and readout already contain the relaxation meanwhile, and
noise acts nowhere else: a model with both would count it twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

NOISY_ENGINES = ("noisy", "density_matrix")
"""The engines of backends that exist for noise: a run there without a noise model gets a warning."""
ENGINES_WITH_NOISE = (*NOISY_ENGINES, "gpu_statevector")
"""The engines that take a noise model."""


class UnknownDevice(ValueError):
    """No figures are known for the device; the message lists those that have some."""


@dataclass(frozen=True)
class Figures:
    """What is published of a device. `version` is the date of the figures."""

    slug: str
    version: str
    error_1q: float
    error_2q: float
    readout_error: float | None

    @property
    def noise_model(self) -> dict[str, Any]:
        """The noise model without `like`. A benchmark gives the average infidelity r of a gate; the depolarizing
        parameter with this infidelity is r d / (d - 1), for dimension d."""
        model: dict[str, Any] = {"gate_errors": {"all_1q": self.error_1q * 2, "all_2q": self.error_2q * 4 / 3}}
        if self.readout_error is not None:
            # One number is published, the mean over both states.
            model["readout_errors"] = {"all": {"p0_given1": self.readout_error, "p1_given0": self.readout_error}}
        return model


@cache
def all_figures() -> dict[str, Figures]:
    """The figures of every device, by slug."""
    path = Path(__file__).with_suffix(".json")
    entries: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {
        slug: Figures(slug, entry["date"], entry["error_1q"], entry["error_2q"], entry["readout_error"])
        for slug, entry in entries.items()
    }


def resolved(model: dict[str, Any]) -> tuple[dict[str, Any], Figures | None]:
    """A job's noise model with the figures that `like` names in its place, and these figures. The model's own entries
    override those of the same name. Raises UnknownDevice."""
    if "like" not in model:
        return model, None
    figures = all_figures().get(model["like"]) if isinstance(model["like"], str) else None
    if figures is None:
        raise UnknownDevice(f"has no published figures; known are those of {', '.join(all_figures())}")
    own = {name: value for name, value in model.items() if name != "like"}
    published = figures.noise_model
    for name, entries in published.items():
        given = own.get(name)
        if isinstance(given, dict):
            own[name] = {**entries, **given}
    return {**published, **own}, figures
