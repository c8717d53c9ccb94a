// The example of each JSON body in the OpenAPI document, by `operationId`. A test checks each one against the schema of its body.
import { createHash } from 'node:crypto'
import { submissionProtocol } from '../../../domain/jobs/native/native-submission.js'

export const id = '0192f3a4-5b6c-7d8e-9f01-23456789abcd'
const otherId = '0192f3a5-1c2d-7e3f-8a4b-56789abcdef0'
const team = '0192f3a4-0000-7000-8000-0000000000aa'
export const bell =
  'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nbit[2] c;\nh q[0];\ncx q[0], q[1];\nc = measure q;\n'
const script = `from qiskit import QuantumCircuit

circuit = QuantumCircuit(2, 2)
circuit.h(0)
circuit.cx(0, 1)
circuit.measure([0, 1], [0, 1])
`
const account = { email: 'ada@example.org', password: 'correct horse battery' }
const ionq = { team_id: team, provider: 'ionq', secrets: { api_key: 'the key that IonQ gave you' } }

export const requestExamples: Readonly<Record<string, object>> = {
  validateCode: { code: 'welcome-2026' },
  signUp: { ...account, code: 'welcome-2026', display_name: 'Ada' },
  signIn: account,
  changePassword: { password: account.password, new_password: 'a new and longer password' },
  requestPasswordReset: { email: account.email },
  resetPassword: { token: 'the token of the link in the mail', password: 'a new and longer password' },

  submitJob: {
    circuit: { format: 'qasm3', payload: bell },
    backend: 'local',
    params: { shots: 1000, seed: 7 },
    name: 'A Bell pair'
  },
  estimateJobParams: {
    backend: 'auto',
    params: { shots: 1000, observables: ['ZZ', 'XX'] },
    choose: { hardware: true }
  },
  priceDestinations: { params: { shots: 1000, observables: ['ZZ', 'XX'], points: [{ theta: 0.1 }, { theta: 0.2 }] } },
  compareJobs: { a: id, b: otherId, margin: 0.05 },
  runPlayground: { code: script, language: 'qiskit', backend: 'local', shots: 1000 },
  convertPlayground: { code: script, language: 'qiskit' },
  reportPlaygroundRun: {
    session_id: 'a tab of the browser',
    team_id: team,
    simulator: 'qulacs-wasm',
    qasm_input: bell,
    shots: 1000,
    qubit_count: 2,
    gate_count: 2,
    execution_time_ms: 3.5,
    counts: { '00': 507, '11': 493 }
  },

  uploadScript: { name: 'A Bell pair', script_content: script },
  saveJobScript: { job_id: id, name: 'A Bell pair', description: 'Two entangled qubits', slug: 'a-bell-pair' },
  updateScript: { description: 'Two entangled qubits' },
  analyseScript: {
    content: script,
    content_hash: createHash('sha256').update(script).digest('hex'),
    backend: 'local',
    shots: 1000
  },

  createCapsule: { name: 'A Bell pair', description: 'Two entangled qubits', tags: ['bell'] },
  createCapsuleFromJob: { job_id: id, name: 'A Bell pair' },
  updateCapsule: { description: 'Two entangled qubits' },
  cloneCapsule: { name: 'My Bell pair' },
  sealCapsule: { exit_code: 0, exit_message: 'as expected' },
  publishCapsule: { title: 'A Bell pair', description: 'Two entangled qubits', license: 'CC-BY-4.0' },
  runCapsule: { mode: 'verify' },
  setCapsuleSchedule: { cron: '0 3 * * *', timezone: 'Europe/Berlin' },
  backfillCapsuleSchedule: { from: '2026-01-12T00:00:00Z', to: '2026-01-15T00:00:00Z' },

  createTeam: { name: 'Quantum chemistry' },
  renameTeam: { name: 'Quantum chemistry' },
  transferTeam: { user_id: id },
  updateMember: { team_id: team, role: 'admin' },
  removeMember: { team_id: team },
  createInvitation: { team_id: team, email: 'grace@example.org', role: 'member' },
  updateInvitation: { action: 'resend' },
  createApiKey: { team_id: team, name: 'nightly runs', tier: 'simulate', kind: 'live' },
  createWebhook: { team_id: team, url: 'https://hooks.example.org/jobs', events: ['job.completed', 'job.failed'] },
  storeSecrets: ionq,
  testSecrets: ionq,
  updateBudget: { team_id: team, daily_usd: 20, monthly_usd: 200 },
  updateRetention: { team_id: team, results_days: 365, output_days: 30 },
  updateProfile: { username: 'ada', display_name: 'Ada', bio: 'Quantum chemist', is_public: true },
  deleteAccount: { password: account.password },

  adminUpdateTeam: { running_jobs_max: 20 },
  adminSuspendTeam: { reason: 'An invoice is overdue' },
  adminSetBudget: { monthly_usd: 500, ceilings: { monthly_usd: 1000 } },
  adminSetStorage: { limit_bytes: 10_000_000_000 },
  adminCreateAccessCode: { uses: 5, expires_at: '2026-12-31T00:00:00Z' },
  adminUpdateBackend: { status: 'maintenance' },
  adminSettleJob: { cost_usd: 1.5, note: 'The invoice of January' },
  adminTakeDownCapsule: { reason: 'It names a person' }
}

/** The other kind of body of `submitJob`. */
export const nativeExample = {
  protocol_version: submissionProtocol,
  team_id: team,
  backend: 'local',
  programming_model: 'single_task',
  cap_cents: 100,
  source: { kind: 'inline', content: 'def add(a, b):\n    return a + b\n' },
  input: '{"entrypoint": "add", "args": [1, 2], "kwargs": {}}'
}
