"""The settings in the environment, read once at the start and trusted afterwards."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass

from .execution_request import ENGINES
from .job import EXECUTOR_BYTES, GIB, KEPT_SLOTS, PARKED_BYTES_MAX, SLOTS_MAX, Isolation

ENGINE_BYTES = 6 * GIB
DRAIN_SECONDS = 900
"""The longest wall time that a request may have."""
TOKEN_LENGTH_MIN = 16
"""A shorter bearer token could be guessed."""

ISOLATIONS: tuple[Isolation, ...] = ("namespaces", "rootless", "uid", "landlock")


class SettingsError(Exception):
    """The environment is unusable; the message names the variable and the fix."""


@dataclass(frozen=True)
class Settings:
    """Addresses, secret, number of slots and memory limits (bytes) of one executor."""

    host: str
    port: int
    token: str
    slots: int
    log_level: str
    isolation: Isolation | None
    allow_insecure: bool
    memory_bytes: int
    engine_memory_bytes: int
    warm_frameworks: bool
    """Whether every framework is imported as soon as the executor is ready (true), or when it is first needed."""
    gpu: bool
    """Whether executions see the GPUs of the machine."""
    drain_seconds: int
    """How long executions may continue after a signal before they are killed."""
    engines: tuple[str, ...]
    """The engines that this executor offers, as far as its machine has them."""


def read_settings(env: Mapping[str, str]) -> Settings:
    """Settings from environment variables. Raises SettingsError."""
    token = env.get("EXECUTOR_TOKEN", "")
    if len(token) < TOKEN_LENGTH_MIN:
        raise SettingsError(
            f"EXECUTOR_TOKEN: must be a secret of at least {TOKEN_LENGTH_MIN} characters (got {len(token)});"
            " the worker sends the same one"
        )
    slots = _integer(env, "EXECUTOR_SLOTS", max(2, os.cpu_count() or 1), 1, SLOTS_MAX - KEPT_SLOTS)
    memory = _integer(env, "EXECUTOR_MEMORY_GIB", 4, 3, 1024) * GIB
    log_level = env.get("LOG_LEVEL", "info").upper()
    if log_level in ("TRACE", "SILENT"):
        log_level = {"TRACE": "DEBUG", "SILENT": "CRITICAL"}[log_level]
    if log_level not in ("DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"):
        raise SettingsError(f"LOG_LEVEL: must be debug, info, warn or error (got '{env.get('LOG_LEVEL')}')")
    return Settings(
        host=env.get("EXECUTOR_HOST") or "127.0.0.1",
        port=_integer(env, "EXECUTOR_PORT", 8800, 0, 65535),
        token=token,
        slots=slots,
        log_level=log_level,
        isolation=_isolation(env.get("EXECUTOR_ISOLATION") or "auto"),
        allow_insecure=_integer(env, "SANDBOX_ALLOW_INSECURE", 0, 0, 1) == 1,
        memory_bytes=memory,
        warm_frameworks=_integer(env, "EXECUTOR_WARM_FRAMEWORKS", 1, 0, 1) == 1,
        gpu=_integer(env, "EXECUTOR_GPU", 0, 0, 1) == 1,
        drain_seconds=_integer(env, "EXECUTOR_DRAIN_SECONDS", DRAIN_SECONDS, 0, 86_400),
        engine_memory_bytes=max(memory, _engine_memory_bytes(slots)),
        engines=_engines(env.get("EXECUTOR_ENGINES") or ",".join(ENGINES)),
    )


def _engine_memory_bytes(slots: int) -> int:
    """A state of 28 qubits is 4 GiB, and the imported libraries take 1.5 GiB of address space in addition. Where the
    memory is not enough for that in every slot, the common limit applies."""
    wanted = (slots + KEPT_SLOTS) * ENGINE_BYTES + PARKED_BYTES_MAX + EXECUTOR_BYTES
    return ENGINE_BYTES if _present_bytes() >= wanted else 0


def _present_bytes() -> int:
    """The memory of the machine, or of the container where that is less."""
    present = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
            present.append(int(file.read()))
    return min(present)


def _isolation(name: str) -> Isolation | None:
    if name == "auto":
        return None
    for isolation in ISOLATIONS:
        if isolation == name:
            return isolation
    raise SettingsError(f"EXECUTOR_ISOLATION: must be auto, {', '.join(ISOLATIONS)} (got '{name}')")


def _engines(text: str) -> tuple[str, ...]:
    named = [name.strip() for name in text.split(",")]
    for name in named:
        if name not in ENGINES:
            raise SettingsError(f"EXECUTOR_ENGINES: must be a list of {', '.join(ENGINES)} (got '{name[:40]}')")
    return tuple(name for name in ENGINES if name in named)


def _integer(env: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = env.get(name)
    if text is None or text == "":
        return default
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise SettingsError(f"{name}: must be an integer from {low} to {high} (got '{text[:40]}')")
    return value
