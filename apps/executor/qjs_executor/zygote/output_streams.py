"""The streams `sys.stdout` and `sys.stderr` of a zygote, which its children inherit."""

from __future__ import annotations

import io
import os
import sys


def open_output_streams() -> None:
    """Opens both streams anew, before anything is imported that could keep the first ones. A stream remembers for good
    whether its file could seek: those of a zygote are opened on /dev/null, which can, and those of its children become
    pipes, which cannot. `reconfigure` would ask such a pipe for its position."""
    for name in ("stdout", "stderr"):
        setattr(sys, name, _on_a_pipe(name))
        setattr(sys, f"__{name}__", getattr(sys, name))


def _on_a_pipe(name: str) -> io.TextIOWrapper:
    first: io.TextIOWrapper = getattr(sys, name)
    fd = first.fileno()
    present, (read, write) = os.dup(fd), os.pipe()
    try:
        os.dup2(write, fd)
        raw = io.FileIO(fd, "w", closefd=False)
        raw.name = f"<{name}>"
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw), first.encoding, first.errors, "\n", line_buffering=first.line_buffering
        )
        stream.mode = "w"  # type: ignore[misc]
        return stream
    finally:
        os.dup2(present, fd)
        for used in (present, read, write):
            os.close(used)
