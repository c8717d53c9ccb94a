"""The tests run against a service, whose address and a key are in QJOB_URL and QJOB_KEY:
test/clients/python-package.long.test.ts sets them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from quantum_job_service import Client


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """Of the service that runs for these tests."""
    assert os.environ.get("QJOB_URL") and os.environ.get("QJOB_KEY"), "run through npm test -- test/clients"
    with Client() as opened:
        yield opened


@pytest.fixture
def single_jobs() -> Iterator[Client]:
    """A client that sends each circuit as a job of its own, as for a backend without sweeps."""
    with Client() as opened:
        opened._sweeps["local"] = False
        yield opened
