"""What one stream of a run printed."""

from __future__ import annotations

from dataclasses import dataclass


class OutputFlood(Exception):
    """The run printed more than its flood limit."""


@dataclass
class Output:
    """What one stream printed: the first bytes, and whether there was more."""

    kept: bytes = b""
    total: int = 0

    @property
    def truncated(self) -> bool:
        """More was printed than kept."""
        return self.total > len(self.kept)
