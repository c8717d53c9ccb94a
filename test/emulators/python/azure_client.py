"""Uses the emulated Azure Quantum through Microsoft's own client, unmodified, and prints what it found as JSON.

Arguments: the address of the emulator, which speaks TLS, and its control address. Credentials come as JSON on stdin;
REQUESTS_CA_BUNDLE names the certificate.
"""

import json
import sys
import urllib.request

from azure.core.exceptions import HttpResponseError
from azure.identity import ClientSecretCredential
from azure.quantum import Workspace
from azure.quantum.target.rigetti import Result

ADDRESS, CONTROL = sys.argv[1:]
IONQ = {"qubits": 3, "gateset": "qis", "circuit": [{"gate": "x", "target": 0}]}
QASM = 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3];\ncreg c[3];\nx q[0];\nmeasure q -> c;\n'
QUIL = "DECLARE ro BIT[3]\nX 0\nMEASURE 0 ro[0]\nMEASURE 1 ro[1]\nMEASURE 2 ro[2]\n"


def steer(path, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(CONTROL + path, data, {"content-type": "application/json"})
    urllib.request.urlopen(request, timeout=30).read()


def open_workspace(given, secret):
    credential = ClientSecretCredential(
        given["tenant_id"],
        given["client_id"],
        secret,
        authority=ADDRESS,
        disable_instance_discovery=True,
    )
    return Workspace(
        subscription_id=given["subscription_id"],
        resource_group=given["resource_group"],
        name=given["workspace_name"],
        arm_endpoint=ADDRESS + "/",
        credential=credential,
    )


def finished(job):
    job.wait_until_completed(timeout_secs=60, print_progress=False)
    return job


def ionq(workspace, target):
    job = finished(workspace.get_targets(target).submit(IONQ, shots=100))
    return {"status": job.details.status, "results": job.get_results()}


def quantinuum(workspace):
    job = finished(workspace.get_targets("quantinuum.qpu.h2-1").submit(QASM, shots=3))
    # The cost is known a while after the end.
    steer("/clock", {"advance_ms": 1000})
    job.refresh()
    return {"results": job.get_results(), "cost": job.details.cost_estimate.estimated_total}


def rigetti(workspace):
    return Result(finished(workspace.get_targets("rigetti.sim.qvm").submit(QUIL, shots=2)))["ro"]


def failed(workspace):
    job = finished(
        workspace.get_targets("quantinuum.sim.h2-1e").submit(QASM.replace("x q[0]", "iswap q[0], q[1]"), shots=1)
    )
    return [job.details.status, job.details.error_data.code, job.details.error_data.message]


def expired(workspace):
    """The addresses in the details have expired; the client asks the service for a new one."""
    job = finished(workspace.get_targets("ionq.simulator").submit(IONQ, shots=1))
    address = job.details.output_data_uri.split("?")[0]
    steer("/clock", {"advance_ms": 48 * 3_600_000})
    return json.loads(job.download_data(address))


def cancelled(workspace):
    steer("/timing", {"queue_ms": 3_600_000})
    job = workspace.get_targets("ionq.qpu.forte-1").submit(IONQ, shots=10, name="to-be-cancelled")
    asked = workspace.cancel_job(job).details.status
    steer("/clock", {"advance_ms": 10_000})
    job.refresh()
    listed = workspace.list_jobs(name_match="to-be-", target=["ionq.qpu.forte-1"], status=["Cancelled"])
    return {"asked": asked, "status": job.details.status, "found": [one.id for one in listed] == [job.id]}


def refused(given):
    try:
        open_workspace(given, "a-wrong-secret")
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


def twice(workspace):
    job = workspace.get_targets("ionq.simulator").submit(IONQ, shots=1)
    try:
        job.submit()
    except HttpResponseError as error:
        return error.status_code
    return None


def main():
    given = json.load(sys.stdin)
    # The client renews its token by the machine's clock, and this script advances only the emulated one.
    steer("/settings", {"token_ms": 1000 * 3_600_000})
    workspace = open_workspace(given, given["client_secret"])
    found = {
        "location": workspace.location,
        "targets": {target.name: target.current_availability for target in workspace.get_targets()},
        "quotas": [quota["dimension"] for quota in workspace.get_quotas()],
        "simulator": ionq(workspace, "ionq.simulator"),
        "forte": ionq(workspace, "ionq.qpu.forte-1"),
        "quantinuum": quantinuum(workspace),
        "rigetti": rigetti(workspace),
        "failed": failed(workspace),
        "twice": twice(workspace),
        "all": len(workspace.list_jobs()),
        "expired": expired(workspace),
        "cancelled": cancelled(workspace),
        "refused": refused(given),
    }
    print(json.dumps(found))


main()
