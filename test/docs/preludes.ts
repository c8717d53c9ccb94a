// What the reader of a page has before its first command: an account, files of the names that the page uses, and for its
// programs the variables that they take for granted.

export interface Prelude {
  /** `false`: the page signs up itself. */
  signUp?: boolean
  files?: Record<string, string>
  before?: string[]
  python?: string
  js?: string
  ts?: string
}

const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
const job = JSON.stringify({
  circuit: { format: 'qasm3', payload: bell },
  backend: 'local',
  params: { shots: 100 }
})

/** As many shots as the tolerance of marqov-capsule needs. */
const sealed = [
  'qjob submit examples/bell.qasm --shots 10000 --seed 7 --wait',
  'qjob capsule from-job JOB --name bell',
  'qjob capsule seal ID --exit-code 0'
]

/** For programs with our Python package. */
const address = `import os
os.environ["QJOB_URL"] = "http://127.0.0.1:3000"
os.environ["QJOB_KEY"] = "marqey_live_..."`

const withParameter = (use: string): string => `from qiskit import QuantumCircuit

def main(theta, molecule=None, shots=1000):
    circuit = QuantumCircuit(1)
    circuit.ry(theta, 0)
    circuit.measure_all()
    return {"energy": ${use}, "counts": device.run(circuit, shots)}
`

export const preludes: Record<string, Prelude> = {
  'README.md': { signUp: false, python: address },
  'clients/python/README.md': { python: address },
  'docs/cli.md': {
    signUp: false,
    files: {
      'bell.qasm': bell,
      'vqe.py': withParameter('molecule["offset"]'),
      'ansatz.py': withParameter('0'),
      'h2.json': '{ "offset": -1.1 }'
    }
  },
  'docs/plugins.md': { python: address },
  'docs/jobs.md': { before: ['qjob submit examples/bell.qasm --wait'] },
  'docs/compare.md': {
    before: [1, 2].map((seed) => `qjob submit examples/bell.qasm --shots 5000 --seed ${seed} --wait`)
  },
  'docs/idempotency.md': { files: { 'job.json': job } },
  'docs/extending/adding-a-route.md': { before: ['node tools/openapi-doc.mjs > /tmp/before.json'] },
  'docs/limits.md': { before: ['qjob submit examples/bell.qasm --wait'] },
  'docs/teams.md': { before: ['qjob submit examples/bell.qasm --wait'] },
  'docs/programs.md': {
    files: { 'ansatz.qasm': 'OPENQASM 3.0;\ninclude "stdgates.inc";\ninput float theta;\nqubit q;\nrx(theta) q;\n' }
  },
  'docs/workflows.md': {},
  'docs/clients/python-client.md': {
    before: ['qjob submit examples/bell.qasm --wait'],
    python: `from marqov.platform import MarqovClient
TEAM = "TEAM_ID"
client = MarqovClient(api_key="marqey_live_...", base_url="http://localhost:3000")`
  },
  'docs/clients/generated-clients.md': {
    before: ['qjob submit examples/bell.qasm --wait'],
    python: `KEY = "marqey_live_..."\nQASM = ${JSON.stringify(bell)}`,
    ts: 'declare const qasm: string'
  },
  'docs/webhooks.md': {
    js: `const secret = 'whsec_' + Buffer.from('a secret of a webhook for a test').toString('base64')
const rawBody = '{"type":"job.completed"}'
const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }
headers['webhook-signature'] = new Webhook(secret).sign('msg_1', new Date(), rawBody)
const request = { headers }`
  },
  'docs/capsules/audit.md': {
    before: sealed,
    python: `import json, subprocess
entry = json.loads(subprocess.check_output(["qjob", "audit", "list", "--json"]))["entries"][0]`
  },
  'docs/capsules/capsule-format.md': {
    before: [
      ...sealed,
      'qjob capsule export ID --output bell.capsule',
      'qjob capsule export ID --format rocrate --output bell.crate.zip'
    ]
  }
}
