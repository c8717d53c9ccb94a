"""Reads a requirements text by PEP 508; nothing is installed, fetched or opened."""

from __future__ import annotations

import functools
import importlib.metadata
import re
from dataclasses import dataclass
from typing import Any

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from .findings import Caution, Fault, lines_of, shown

LINE_LENGTH_MAX = 1_000
"""No real requirement is longer; the parser's time and recursion grow with the line."""
REQUIREMENTS_MAX = 200
_INSTALLED_SHOWN = 150
_MISSING_SHOWN = 10

_COMMENT = re.compile(r"(?:^|\s)#.*")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar|tgz|tar\.(?:gz|bz2|xz))(?:\s|;|$)", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{?[A-Za-z_]")


@dataclass(frozen=True)
class Requirements:
    """The packages that the lines request, compared with the installed ones."""

    found: list[dict[str, Any]]
    faults: list[Fault]
    cautions: list[Caution]


def read_requirements(text: str | None) -> Requirements:
    """Every requirement as {name, specifier, installed_version}; faults and cautions name the line."""
    found: list[dict[str, Any]] = []
    faults: list[Fault] = []
    cautions: list[Caution] = []
    missing: list[tuple[str, int]] = []
    for number, line in enumerate(lines_of((text or "").removeprefix("\ufeff")), start=1):
        if len(line) > LINE_LENGTH_MAX:
            faults.append(
                _fault(number, f"the line has {len(line)} characters, at most {LINE_LENGTH_MAX} are possible")
            )
            continue
        wanted = _COMMENT.sub("", line).strip()
        if not wanted:
            continue
        if len(found) == REQUIREMENTS_MAX:
            faults.append(_fault(number, f"there are more than {REQUIREMENTS_MAX} requirements"))
            break
        requirement = _parsed(wanted)
        if isinstance(requirement, str):
            faults.append(_fault(number, requirement))
            continue
        applies = _applies(requirement)
        installed = _installed_version(requirement.name)
        found.append(
            {"name": requirement.name, "specifier": str(requirement.specifier), "installed_version": installed}
        )
        if not applies:
            continue
        if installed is None:
            missing.append((requirement.name, number))
        elif not requirement.specifier.contains(installed, prereleases=True):
            message = (
                f"requirements, line {number}: {shown(wanted)} is requested, {installed} is installed and will be used"
            )
            cautions.append(Caution("requirement_version", message, number))
    if missing:
        cautions.append(_missing_caution(missing))
    return Requirements(found, faults, cautions)


def _parsed(wanted: str) -> Requirement | str:
    """The requirement, or why this service does not accept it."""
    if wanted.startswith("-"):
        return f"the option {shown(wanted.split()[0])} is not possible; list package names with versions only"
    if wanted.endswith("\\"):
        return "a line cannot be continued; write each requirement on one line"
    if _VARIABLE.search(wanted):
        return "environment variables are not replaced; write the requirement out"
    path_like = wanted.startswith((".", "/", "~", "\\")) or _DRIVE.match(wanted) or _ARCHIVE.search(wanted)
    if "://" in wanted or path_like or wanted.lower().startswith("file:"):
        return "a URL or path is not possible; name a package and its version, for example numpy>=2"
    try:
        requirement = Requirement(wanted)
    except InvalidRequirement as error:
        reason = (str(error).splitlines() or ["it cannot be read"])[0]
        return f"{shown(wanted)!r} is not a valid requirement (PEP 508): {reason[:200]}"
    except RecursionError:
        return "the requirement is nested too deeply"
    except ValueError as error:
        return f"{shown(wanted)!r} is not a valid requirement (PEP 508): {str(error)[:200]}"
    if requirement.url is not None:
        return "a URL or path is not possible; name a package and its version, for example numpy>=2"
    return requirement


def _applies(requirement: Requirement) -> bool:
    """Whether the requirement's marker applies here; in doubt it does."""
    if requirement.marker is None:
        return True
    try:
        return requirement.marker.evaluate()
    except (UndefinedComparison, UndefinedEnvironmentName, ValueError, RecursionError):
        return True


@functools.cache
def _installed_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _missing_caution(missing: list[tuple[str, int]]) -> Caution:
    listed = ", ".join(f"{shown(name)} (line {number})" for name, number in missing[:_MISSING_SHOWN])
    more = f" and {len(missing) - _MISSING_SHOWN} more" if len(missing) > _MISSING_SHOWN else ""
    installed = sorted({canonicalize_name(found.name) for found in importlib.metadata.distributions() if found.name})
    there = ", ".join(installed[:_INSTALLED_SHOWN]) + (", ..." if len(installed) > _INSTALLED_SHOWN else "")
    message = (
        f"requirements: not installed, and nothing is installed at run time: {listed}{more}. Installed are: {there}"
    )
    return Caution("requirement_not_installed", message, missing[0][1])


def _fault(number: int, reason: str) -> Fault:
    return Fault(f"requirements, line {number}: {reason}", number, 1, "requirements")
