// A small team's use of IBM Quantum for the tests of its adapter: credentials, a job, and a server with plain answers.
import { expect } from '@jest/globals'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault, type ProviderFaultKind, type ProviderJobRequest } from '../../../services/providers/adapter.js'
import { createIbm } from '../../../services/providers/ibm/ibm.js'
import { startIbmServer } from './ibm-server.js'

export const crnOf = (region: string, instance = '01234567-89ab-cdef-0123-456789abcdef') =>
  `crn:v1:bluemix:public:quantum-computing:${region}:a/0123456789abcdef0123456789abcdef:${instance}::`
export const CRN = crnOf('us-east')
export const OTHER_CRN = crnOf('us-east', '76543210-89ab-cdef-0123-456789abcdef')
export const credentials: Credentials = { token: 'CANARY-an-api-key-of-ibm-cloud', instance: CRN }
export const target = 'ibm_fez'
export const at = { credentials, place: { account: CRN, region: 'us-east' } }
export const { signal } = new AbortController()

export const task: ProviderJobRequest = {
  token: 'f'.repeat(64),
  target,
  program: {
    text: 'OPENQASM 3.0;\ninclude "stdgates.inc";\nbit[3] c;\nx $4;\nc[0] = measure $4;\n',
    qubits: 3,
    readout: { kind: 'clbits', bits: [0, 1, 2], registers: [{ name: 'c', size: 3 }] }
  },
  shots: 2,
  name: 'a job'
}
export const configuration = {
  backend_name: target,
  n_qubits: 3,
  basis_gates: ['cz', 'id', 'rx', 'rz', 'rzz', 'sx', 'x'],
  coupling_map: [
    [0, 1],
    [1, 0],
    [1, 2]
  ],
  max_shots: 100_000
}
const result = { results: [{ data: { c: { samples: ['0x1', '0x1'], num_bits: 3 } }, metadata: {} }], metadata: {} }

export const fault = (kind: ProviderFaultKind, message: RegExp | string) =>
  expect.objectContaining({ name: ProviderFault.name, kind, message: expect.stringMatching(message) })

/** A server with a plain answer to every call, and the calls of an adapter to it. */
export async function startIbmScene() {
  const server = await startIbmServer()
  const scene = {
    server,
    ibm: createIbm(),
    /** A new adapter remembers nothing. */
    async reset(): Promise<void> {
      await scene.ibm.close()
      scene.ibm = createIbm(server.urls)
      server.reset()
      server.answer({
        'GET /backends': { body: { devices: [{ name: target, status: { name: 'online' }, queue_length: 7 }] } },
        'GET /backends/ibm_fez/configuration': { body: configuration },
        'GET /backends/ibm_fez/status': { body: { state: true, status: 'active', message: '', length_queue: 7 } },
        'POST /jobs': { body: { id: 'one', backend: target } },
        'GET /jobs': { body: { jobs: [], limit: 200, offset: 0 } },
        'GET /jobs/one': { body: { id: 'one', state: { status: 'Completed' }, calibration_id: 'a-calibration' } },
        'GET /jobs/one/results': { body: result },
        'POST /jobs/one/cancel': { status: 204 }
      })
    },
    submit: async (job = task): Promise<string> => (await scene.ibm.stage(at, job, signal))(signal),
    look: () => scene.ibm.look(at, 'one', signal),
    counts: () => scene.ibm.counts(at, 'one', task, signal),
    describe: (own = credentials) => scene.ibm.describe(own, { target, width: null }, signal),
    async close(): Promise<void> {
      await scene.ibm.close()
      await server.close()
    }
  }
  return scene
}
