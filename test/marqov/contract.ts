// The guarantees for users of the public client, in one list, each as short as a user would write it.
import { expect, test } from '@jest/globals'
import { slowQiskit } from '../support/jobs/builders.js'
import { rowsOfLane } from '../support/lane.js'
import type { Scene } from './scene.js'

const DEVICES = `import marqov
from marqov import Circuit, get_device
from marqov.device import get_device as third

def main(client, params):
    seen = [one(params).run(Circuit().x(0).x(1).x(1), 20) for one in (marqov.get_device, get_device, third)]
    return {"backend": params["backend"], "seen": seen}
`

/** Each is a Python body that ends with an assertion; `c` is a client, `H` the headers of its requests. */
const PRELUDE = `
import hashlib, uuid
c, H, rq = connect(url, key), {"Authorization": "Bearer " + key}, requests
def raised(call):
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")
`

const promises: [promise: string, body: string][] = [
  [
    'a program of the client is a job with a UUID',
    `j = c.submit("from marqov import *\\nprint(get_device(params).run(bell_state(),100))",
        backend="marqov-sim", framework="marqov", shots=100)
assert uuid.UUID(j.id)
r = j.result(60)
assert set(r.counts) <= {"00", "11"} and sum(r.counts.values()) == 100`
  ],
  [
    'a Circuit is measured in full, qubit 0 leftmost, as wide as it is declared',
    `r = c.submit(Circuit().x(2), backend="marqov-sim", shots=50).result(60)
assert r.counts == {"001": 50}`
  ],
  [
    'an unknown gate is named',
    `e = raised(lambda: c.submit("OPENQASM 3.0;\\nqubit[1] q;\\nnosuch q[0];",
        backend="marqov-sim", framework="openqasm").result(60))
assert isinstance(e, (JobFailed, InvalidProgram)) and "nosuch" in str(e)`
  ],
  [
    'the catalogue shows which backends are available and their qubits',
    `b = {x.slug: x for x in c.backends()}
assert b["marqov-sim"].is_available is True and "qubitCount" in b["marqov-sim"].extra`
  ],
  ['the interface has a version', 'assert c.platform_info().api_version != "unknown"'],
  [
    'a wrong key is an AuthenticationError, and an unknown job is not found',
    `e = raised(lambda: MarqovClient(api_key="marqey_live_bad", base_url=url).job(str(uuid.uuid4())).status())
assert type(e) is AuthenticationError
e = raised(lambda: c.job(str(uuid.uuid4())).status())
assert type(e) is MarqovPlatformError and e.code == "not_found"`
  ],
  [
    'an unknown backend is BackendUnavailable, no shots are InvalidProgram',
    `assert type(raised(lambda: c.submit("x", backend="nope", framework="marqov"))) is BackendUnavailable
assert type(raised(lambda: c.submit("x", backend="marqov-sim", framework="marqov", shots=0))) is InvalidProgram`
  ],
  [
    'the same request with the same key is one job, and another request with it is a conflict',
    `k = {**H, "Idempotency-Key": "an operation of " + url}
body = {"backend": "local", "params": {"shots": 10}, "framework": "openqasm", "inline_code": "OPENQASM 3.0;qubit[1] q;"}
a, b = [rq.post(url + "/api/jobs/submit", headers=k, json=body).json()["job_id"] for _ in range(2)]
assert a == b
r = rq.post(url + "/api/jobs/submit", headers=k, json={**body, "params": {"shots": 11}})
assert r.status_code == 409 and r.json()["error"]["code"] == "idempotency_conflict"`
  ],
  [
    'a cancelled job ends as cancelled',
    `j = c.submit(slow, backend="local", framework="qiskit")
assert j.cancel() is None
e = raised(lambda: j.result(30))
assert type(e) is JobFailed and e.code == "cancelled"`
  ],
  [
    'a poll waits as long as requested, at most 22 seconds, and has exactly seven fields',
    `j = c.submit(slow, backend="local", framework="qiskit")
while j.status() != "running":
    time.sleep(0.05)
def held(wait):
    t = time.time()
    r = rq.get(url + f"/api/jobs/{j.id}/status?wait={wait}", headers=H)
    assert set(r.json()) == {"id", "status", "backend", "created_at", "updated_at", "estimated_cost_usd", "result"}
    return time.time() - t
# A machine that stalls holds one of two up.
faster = lambda wait: min(held(wait), held(wait))
assert 3 <= faster(3) < 5
assert faster("abc") < 2
assert 21 < faster(999) < 25
j.cancel()`
  ],
  [
    'a script finds its backend, and its device by any import',
    `for slug in ("marqov-sim", "local", "aer-statevector", "aer-noisy"):
    r = c.submit(program, backend=slug, framework="marqov").result(60).raw
    assert (r["backend"], r["seen"]) == (slug, [{"10": 20}] * 3), r`
  ],
  [
    'native programs have a runtime, and those of other teams are not found',
    `rt = c.managed_runtimes(team)
assert any(x["backend"] == "marqov-sim" for x in rt)
assert raised(lambda: c.managed_runtimes(str(uuid.uuid4()))).code == "not_found"`
  ],
  [
    'a native program is admitted once for its key, and its integers keep every digit; with another program it is a conflict',
    `k = str(uuid.uuid4())
S = "from marqov import task,workflow\\n@task\\ndef f(x): return x+1\\n@workflow\\ndef wf(x): return f(x)\\n"
g = lambda n: c.submit_native(team_id=team, entrypoint="wf", source=S, args=[n], cap_cents=100, idempotency_key=k)
a, b = g(10**30), g(10**30)
assert a.id == b.id
assert a.result(60).raw["outputs"][0]["display"]["value"] == 10**30 + 1
assert raised(lambda: g(2)).code == "idempotency_conflict"`
  ],
  [
    'a script is saved once for its key, known by its hash, analysed and run',
    `QASM = "OPENQASM 3.0;\\ninclude \\"stdgates.inc\\";\\nqubit[2] q;\\nx q[0];\\n"
w = lambda: c.save_script(QASM, name="n", idempotency_key="save " + team)
s = w()
assert s["script_id"] == w()["script_id"]
o = c.script_execution_options(s["script_id"])
assert o["source_sha256"] == hashlib.sha256(QASM.encode()).hexdigest()
a = c.analyse_script(s["script_id"], content=QASM, backend="marqov-sim")
r = c.submit_script(s["script_id"], backend="marqov-sim", analysis_id=a["analysis_id"]).result(60)
assert r.counts == {"10": 1000}`
  ]
]

export function checkContract(scene: () => Scene): void {
  test.each(
    rowsOfLane(
      promises,
      ([promise]) => !promise.startsWith('a poll waits') && !promise.startsWith('a script finds its')
    )
  )(
    '%s',
    async (_promise, body) => {
      const names = { ...scene().there, team: scene().teamId, slow: slowQiskit(150), program: DEVICES }
      expect(await scene().python.run(`${PRELUDE}\n${body}\nreturn "kept"`, names)).toBe('kept')
    },
    150_000
  )
}
