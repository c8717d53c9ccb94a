"""Python client of Quantum Job Service. The plugins are modules of their own, as ``quantum_job_service.qiskit``."""

from .client import AsyncClient, AsyncJob, Client, Job
from .errors import JobFailed, QuantumJobServiceError, RateLimited, Refused, Unreachable
from .results import ExpectationValue, Point, Result, SweepResult
from .submissions import Circuit

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "Circuit",
    "Client",
    "ExpectationValue",
    "Job",
    "JobFailed",
    "Point",
    "QuantumJobServiceError",
    "RateLimited",
    "Refused",
    "Result",
    "SweepResult",
    "Unreachable",
]
__version__ = "0.2.0"
