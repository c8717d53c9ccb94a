"""A circuit built by one task and run by another, passed between them in the SDK's pickled form."""

from marqov import Circuit, get_device, task, workflow


@task
def prepare():
    return Circuit().h(0).cnot(0, 1)


@task
def run(circuit, shots, backend):
    counts = get_device({"backend": backend}).run(circuit, shots)
    return {"outcomes": sorted(counts), "shots": sum(counts.values()), "width": circuit.num_qubits}


@workflow
def bell_pair(shots=200, backend="local"):
    return run(prepare(), shots, backend)
