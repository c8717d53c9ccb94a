"""One task that runs a Bell pair."""

from marqov import Circuit, get_device, task, workflow


@task
def bell(shots):
    device = get_device({"backend": "local"})
    return device.run(Circuit().h(0).cnot(0, 1), shots)


@workflow
def one_bell(shots=1000):
    return bell(shots)
