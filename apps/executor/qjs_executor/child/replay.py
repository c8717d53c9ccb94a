"""Makes a script repeatable: randomness and clock begin where its job says, in this single-use child.

A script that waited for an answer in a child that is gone is repeated from its start, and has to make the same
requests. So every implicit source of randomness and time is fixed: `random`, numpy's generators, `os.urandom` with what
is built on it (`secrets`, `uuid4`), the wall clock, and the seeds of simulators. Clocks that only measure (`monotonic`,
`perf_counter`) are left unchanged.
"""

from __future__ import annotations

import ctypes
import datetime
import gc
import hashlib
import os
import random
import sys
import threading
import time
import uuid
from collections.abc import Callable
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

from ..library_generators import seed_all

_MICRO = 1_000_000
_real_urandom = os.urandom
_real_time_ns = time.time_ns
_LIBRARIES = (sys.prefix, sys.base_prefix, "<frozen")


def make_repeatable(seed: int, now: float) -> None:
    """Fixes the randomness and the clock of the code that runs from now on. `seed` from 0, `now` in seconds since
    1970."""
    _own_pickles()
    stream = _Stream(seed)

    def urandom(size: int, /) -> bytes:
        return stream.take(size)

    # A pickle names it by the module from which `os` imports it.
    sys.modules[_real_urandom.__module__].__dict__["urandom"] = os.urandom = _known_as(os, urandom)
    random.__dict__["_urandom"] = urandom
    _seed_generators(stream)
    _fix_clock(now)
    _seed_qiskit(_Stream(derived_seed(seed, 0)))


def derived_seed(seed: int, number: int) -> int:
    """The seed of the n-th draw of a simulator, a signed 64-bit integer that is not negative."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{number}".encode()).digest()[:8], "little") >> 1


def _known_as(module: ModuleType, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under the name that it takes in a module, so that a task's pickle refers to it by that name and
    finds its own child's function."""
    function.__module__, function.__qualname__ = module.__name__, function.__name__
    return function


class _Stream:
    """Bytes derived from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"bytes:{seed}")
        self._lock = threading.Lock()

    def take(self, size: int, /) -> bytes:
        """Like `os.urandom`."""
        with self._lock:
            return self._random.randbytes(size)


def _own_pickles() -> None:
    """Keeps the names that cloudpickle gives to classes unique among all children, because a task may receive classes
    of several."""
    pickles = sys.modules.get("cloudpickle.cloudpickle")
    if pickles is not None:
        pickles.__dict__["uuid"] = SimpleNamespace(
            uuid4=lambda: uuid.UUID(bytes=_real_urandom(16), version=4), UUID=uuid.UUID
        )


def _seed_generators(stream: _Stream) -> None:
    """Seeds the shared generators, and those that a program creates without a seed."""
    own = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        own(self, os.urandom(32) if a is None else a, version)

    random.Random.seed = seeded  # type: ignore[method-assign]
    random.__dict__["seed"] = random.__dict__["_inst"].seed
    seed_all(stream.take)

    def uuid1(*_: Any, **__: Any) -> uuid.UUID:
        return uuid.UUID(bytes=os.urandom(16), version=1)

    uuid.__dict__["uuid1"] = _known_as(uuid, uuid1)


class _Clock:
    """A clock that advances by a microsecond when the program reads it, and by the time it sleeps. Libraries see the
    real time: some of them wait for it to pass."""

    def __init__(self, now: float) -> None:
        self._microseconds = round(now * _MICRO)
        self._lock = threading.Lock()
        self._sleep = time.sleep

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return _present_clock, ()

    def nanoseconds(self, caller: FrameType | None) -> int:
        """Nanoseconds since 1970 for the code of a frame."""
        if caller is not None and caller.f_code.co_filename.startswith(_LIBRARIES):
            return _real_time_ns()
        with self._lock:
            self._microseconds += 1
            return self._microseconds * 1000

    def sleep(self, seconds: float, /) -> None:
        """Like `time.sleep`."""
        self._sleep(seconds)
        with self._lock:
            self._microseconds += round(seconds * _MICRO)


class _MachineClock:
    """The machine's own clock, for values that were pickled with another one."""

    def nanoseconds(self, _: FrameType | None) -> int:
        """Nanoseconds since 1970."""
        return _real_time_ns()


_clock: list[_Clock] = []


def _present_clock() -> _Clock | _MachineClock:
    return _clock[0] if _clock else _MachineClock()


def _fix_clock(now: float) -> None:
    clock = _Clock(now)
    _clock[:] = [clock]

    def time_ns() -> int:
        return clock.nanoseconds(sys._getframe(1))

    def seconds() -> float:
        return clock.nanoseconds(sys._getframe(1)) / 1e9

    def sleep(seconds: float, /) -> None:
        clock.sleep(seconds)

    def of_now(function: Callable[..., Any], place: int) -> Callable[..., Any]:
        """A function of `time` whose argument at `place` defaults to the present."""

        def at(*args: Any) -> Any:
            if len(args) > place and args[place] is not None:
                return function(*args)
            present = clock.nanoseconds(sys._getframe(1)) / 1e9
            return function(*args[:place], local(present) if function in (text, asctime) else present)

        at.__name__ = function.__name__
        return at

    local, text, asctime = time.localtime, time.strftime, time.asctime
    seconds.__name__ = "time"
    arguments_before = {"localtime": 0, "gmtime": 0, "ctime": 0, "asctime": 0, "strftime": 1}
    functions: list[Callable[..., Any]] = [seconds, time_ns, sleep]
    functions += [of_now(getattr(time, name), place) for name, place in arguments_before.items()]
    for function in functions:
        time.__dict__[function.__name__] = _known_as(time, function)

    def now_of(cls: Any, tz: Any = None) -> Any:
        return cls.fromtimestamp(clock.nanoseconds(sys._getframe(1)) / 1e9, tz)

    def utcnow_of(cls: Any) -> Any:
        return cls.fromtimestamp(clock.nanoseconds(sys._getframe(1)) / 1e9, datetime.UTC).replace(tzinfo=None)

    # The class itself has to change: a replacement would separate it from existing objects and pickles.
    # `today` calls `time.time`.
    (members,) = [item for item in gc.get_referents(datetime.datetime.__dict__) if isinstance(item, dict)]
    members.update(now=classmethod(now_of), utcnow=classmethod(utcnow_of))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))


def _seed_qiskit(stream: _Stream) -> None:
    """A simulation or a transpilation without a seed would draw one from the machine. They get a stream of their own:
    the code's draws do not depend on theirs."""

    def draw(bits: int) -> int:
        return int.from_bytes(stream.take(8), "little") >> 64 - bits

    aer: Any = sys.modules.get("qiskit_aer.backends.aerbackend")
    if aer is not None:
        run = aer.AerBackend.run

        def seeded(self: Any, circuits: Any, parameter_binds: Any = None, **options: Any) -> Any:
            if options.get("seed_simulator") is None and getattr(self.options, "seed_simulator", None) is None:
                options["seed_simulator"] = draw(31)
            return run(self, circuits, parameter_binds, **options)

        aer.AerBackend.run = seeded
    transpiler: Any = sys.modules.get("qiskit.transpiler.passmanager_config")
    if transpiler is not None:
        begin = transpiler.PassManagerConfig.__init__

        def configured(self: Any, *args: Any, **kwargs: Any) -> None:
            begin(self, *args, **kwargs)
            if self.seed_transpiler is None:
                self.seed_transpiler = draw(31)

        transpiler.PassManagerConfig.__init__ = configured
