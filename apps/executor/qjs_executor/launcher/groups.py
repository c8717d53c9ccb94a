"""The control groups that the launcher created for executions, by the numbers it assigned to them."""

from __future__ import annotations

from ..isolation.cgroups import Group, Hierarchy
from ..isolation.linux import children_of, parent_of, pid_of
from ..job import SLOTS_MAX
from .orders import BadOrder

GROUPS_MAX = 2 * SLOTS_MAX
"""As many as there are users for executions."""


class Groups:
    """`memory_bytes` bounds each group."""

    def __init__(self, hierarchy: Hierarchy, memory_bytes: int) -> None:
        self._hierarchy = hierarchy
        self._memory_bytes = memory_bytes
        self._last = 0
        self._present: dict[int, Group] = {}
        self._over: list[Group] = []
        """Groups to be removed as soon as the kernel has released their processes."""

    def make(self, zygote: int, child: int) -> int:
        """Puts a child, identified by its pidfd, into a group of its own; returns the group's number. `zygote` is the
        process that started it. A guard stays outside: it has to be able to fork even when its execution has used up
        the group. Raises OSError, also for a process that is not a child of that zygote."""
        pid = pid_of(child)
        # A zygote with a process namespace of its own is a child of the process that was started, and does the forking.
        if pid <= 0 or parent_of(pid) not in {zygote, *children_of(zygote)}:
            raise OSError("the process is not a live child of the zygote")
        self._clear()
        if len(self._present) + len(self._over) >= GROUPS_MAX:
            raise OSError(f"there are {GROUPS_MAX} groups already")
        group = self._hierarchy.make_group(str(self._last + 1), self._memory_bytes)
        try:
            for one in children_of(pid) or {pid}:
                group.add(one)
        except OSError:
            group.remove()
            raise
        self._last += 1
        self._present[self._last] = group
        return self._last

    def out_of_memory(self, number: int) -> bool:
        """Whether the kernel has killed a process of the group because it exceeded its memory. Raises BadOrder."""
        return self._group(number).out_of_memory()

    def kill(self, number: int) -> None:
        """Kills every process of the group. Raises BadOrder."""
        self._group(number).kill()

    def remove(self, number: int) -> None:
        """Removes the group, whose processes have exited or are left to the kernel. Raises BadOrder."""
        self._over.append(self._group(number))
        del self._present[number]
        self._clear()

    def remove_all(self) -> None:
        """Removes all groups that are left."""
        for number in list(self._present):
            self.remove(number)

    def _clear(self) -> None:
        for group in self._over:
            group.remove()
        self._over = [group for group in self._over if group.exists()]

    def _group(self, number: int) -> Group:
        if number not in self._present:
            raise BadOrder(f"group {number}")
        return self._present[number]
