"""Uses the emulated IBM Quantum through IBM's own client, unmodified, and prints what it found as JSON.

Arguments: the address of the API, the instance, and the control address of the emulator. The API key is on standard
input; the address of IAM comes from the environment. Bodies are checked by IBM's own schemas.
"""

import base64
import inspect
import io
import json
import sys
import urllib.request
import warnings
import zlib

import numpy as np
from ibm_quantum_schemas.sampler.version_0_1.params import ParamsModel
from ibm_quantum_schemas.sampler.version_0_1.primitive_result import PrimitiveResultWrapperModel
from qiskit import QuantumCircuit, qasm3, transpile
from qiskit_ibm_runtime import QiskitRuntimeService, SamplerV2
from qiskit_ibm_runtime.executor_sampler import Sampler
from qiskit_ibm_runtime.fake_provider import FakeFez, FakeMarrakesh

BASE, INSTANCE, CONTROL = sys.argv[1:]
ISA = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
FIRST_OF_NINE = ISA + "bit[9] c;\nx $0;\n" + "".join(f"c[{bit}] = measure ${bit};\n" for bit in range(9))
CROSSED = ISA + "bit[3] first;\nbit[2] second;\nx $0;\nfirst[2] = measure $0;\nsecond[1] = measure $1;\n"


def steer(path, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(CONTROL + path, data, {"content-type": "application/json"})
    urllib.request.urlopen(request, timeout=30).read()


def devices(service):
    found = {}
    for published in (FakeFez(), FakeMarrakesh()):
        backend = service.backend(published.name.replace("fake", "ibm"))
        target, real = backend.target, published.target
        found[backend.name] = {
            "operational": backend.status().operational,
            "pending_jobs": backend.status().pending_jobs,
            "qubits": backend.num_qubits,
            "max_shots": backend.configuration().max_shots,
            "pairs": sorted(target["cz"]) == sorted(real["cz"]),
            "basis": sorted(set(backend.configuration().basis_gates)),
            "same_basis": sorted(backend.configuration().basis_gates) == sorted(published.configuration().basis_gates),
            "errors": max(
                abs(target["cz"][pair].error - real["cz"][pair].error) / real["cz"][pair].error for pair in real["cz"]
            )
            < 1e-3,
        }
    return found


def transpiled(service):
    """A circuit of Qiskit in the instructions of the device, as a text; and how often it is transpiled for it."""
    circuit = QuantumCircuit(3, 3)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.cx(1, 2)
    circuit.measure(range(3), range(3))
    routed = transpile(circuit, service.backend("ibm_fez"), seed_transpiler=7, optimization_level=1)
    return qasm3.Exporter(includes=("stdgates.inc",), disable_constants=True).dumps(routed)


def submit(service, pubs, tags=None, support_qiskit=True, backend="ibm_fez", **more):
    params = {"pubs": pubs, "version": 2, "support_qiskit": support_qiskit}
    check_params(params)
    client = service._active_api_client
    answer = client.program_run(
        program_id="sampler", backend_name=backend, params=params, job_tags=tags, **defaults(client.program_run), **more
    )
    return service.job(answer["id"])


def defaults(function):
    """Those of the parameters that have no default, by their names."""
    named = {"image": None, "log_level": None, "session_id": None, "hgp": None}
    return {name: value for name, value in named.items() if name in inspect.signature(function).parameters}


def check_params(params):
    """IBM's schema describes what its own client sends, where an array stands for no values; its documents say null."""
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((0,)))
    empty = {"__type__": "ndarray", "__value__": base64.b64encode(zlib.compress(buffer.getvalue())).decode()}
    pubs = [[circuit, empty if values is None else values, shots] for circuit, values, shots in params["pubs"]]
    ParamsModel.model_validate({**params, "pubs": pubs})


def counts(result):
    return [{name: bits.get_counts() for name, bits in pub.data.items()} for pub in result]


def run(service):
    job = submit(service, [[FIRST_OF_NINE, None, 20], [CROSSED, None, 5]], tags=["first", "run"])
    result = job.result(timeout=60)
    raw = json.loads(service._active_api_client.job_results(job.job_id()))
    PrimitiveResultWrapperModel.model_validate(raw)
    spans = result.metadata["execution"]["execution_spans"]
    steer("/clock", {"advance_ms": 60_000})
    return {
        "status": job.status(),
        "counts": counts(result),
        "duration": round(spans.duration, 3),
        "tags": job.tags,
        "metrics": job.metrics()["usage"],
        "backend": job.backend().name,
    }


def plain(service):
    job = submit(service, [[FIRST_OF_NINE, None, 3]], support_qiskit=False)
    job.wait_for_final_state(timeout=60)
    return json.loads(service._active_api_client.job_results(job.job_id()))


def ghz(service):
    job = submit(service, [[transpiled(service), None, 200]])
    return sorted(counts(job.result(timeout=60))[0]["c"])


def failure(service):
    job = submit(service, [[ISA + "cz $0, $100;\n", None, 10]])
    job.wait_for_final_state(timeout=60)
    return {"status": job.status(), "message": job.error_message()}


def cancelled(service):
    steer("/timing", {"queue_ms": 3_600_000})
    job = submit(service, [[FIRST_OF_NINE, None, 10]], tags=["mine"])
    before = job.status()
    job.cancel()
    again = service.job(job.job_id())
    listed = [one.job_id() for one in service.jobs(job_tags=["mine"], limit=10)]
    return {"before": before, "after": again.status(), "found": listed == [job.job_id()]}


def refused(service):
    backend = service.backend("ibm_fez")
    circuit = QuantumCircuit(1)
    circuit.measure_all()
    words = []
    for sampler in (SamplerV2, Sampler):
        try:
            sampler(mode=backend).run([transpile(circuit, backend)], shots=10)
        except Exception as error:
            words.append(str(error))
    return words


def adapter(given):
    """Bodies that an adapter sent and received, by IBM's own schemas."""
    for params in given:
        check_params(params)
    return len(given)


def main():
    warnings.simplefilter("ignore")
    given = json.load(sys.stdin)
    service = QiskitRuntimeService(
        channel="ibm_quantum_platform",
        token=given["token"],
        instance=INSTANCE,
        url="http://127.0.0.1",
        url_resolver=lambda *_args, **_more: BASE,
    )
    steer("/settings", {"starts_per_minute": 100})
    found = {
        "checked": adapter(given["params"]),
        "names": sorted(backend.name for backend in service.backends()),
        "devices": devices(service),
        "run": run(service),
        "plain": plain(service),
        "ghz": ghz(service),
        "failure": failure(service),
        "cancelled": cancelled(service),
        "refused": refused(service),
    }
    print(json.dumps(found))


main()
