"""The `device` that a task's code sees.

A task is executed in a child of its own, with that child's device: a function that uses `device` therefore carries a
reference to this module, not the device of the child in which its graph was built.
"""

from __future__ import annotations

import copyreg
from typing import Any

from ..device import Device
from ..refusals import JobError

_provided: list[Device] = []


def provide_device(device: Device) -> None:
    """Sets the device that functions unpickled from now on will see."""
    _provided[:] = [device]


def provided_device() -> Device:
    """The device of this child. Raises JobError where none was provided."""
    if not _provided:
        raise JobError("there is no device where this task runs")
    return _provided[0]


def pickle_devices_by_reference() -> None:
    """Makes every later pickle of a device a reference to that of the child where it is unpickled."""
    copyreg.pickle(Device, _reduced)


def _reduced(_: Device) -> tuple[Any, tuple[()]]:
    return provided_device, ()
