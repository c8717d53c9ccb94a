"""The control groups that the launcher has made for runs, by the numbers it gave them."""

from __future__ import annotations

from ..isolation.cgroups import Group, Hierarchy
from ..isolation.linux import children_of, parent_of, pid_of
from ..job import SLOTS_MAX
from .orders import BadOrder

GROUPS_MAX = 2 * SLOTS_MAX
"""As many as there are users for runs."""


class Groups:
    """`memory_bytes` bounds each group."""

    def __init__(self, hierarchy: Hierarchy, memory_bytes: int) -> None:
        self._hierarchy = hierarchy
        self._memory_bytes = memory_bytes
        self._last = 0
        self._present: dict[int, Group] = {}
        self._over: list[Group] = []
        """To be removed, as soon as the kernel has done with their processes."""

    def make(self, zygote: int, child: int) -> int:
        """Puts a child, shown by its pidfd, into a group of its own; answers the group's number. `zygote` is the
        process that started it. A guard stays outside: when its run has used up the group, it still has to be able to
        fork. Raises OSError, also for what is no child of that zygote."""
        pid = pid_of(child)
        # Where the zygote has a process namespace of its own, the one that was started has the one that forks as child.
        if pid <= 0 or parent_of(pid) not in {zygote, *children_of(zygote)}:
            raise OSError("that is no live child of the zygote")
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
        """Whether the kernel has killed a process of the group for want of memory. Raises BadOrder."""
        return self._group(number).out_of_memory()

    def remove(self, number: int) -> None:
        """Removes the group, whose processes have ended. Raises BadOrder."""
        self._over.append(self._group(number))
        del self._present[number]
        self._clear()

    def remove_all(self) -> None:
        """Removes what is left of them."""
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
