// IBM's own Python client, unmodified, works with the emulated IBM Quantum; and the bodies of the emulator and of our adapter are
// those of IBM's own schemas. The client takes seconds to load.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { createIbm } from '../../../services/providers/ibm/ibm.js'
import { firstOfThree, type Ibm, startIbm } from './ibm-client.js'

const LOADING_MS = 400_000
let ibm: Ibm

beforeAll(async () => {
  ibm = await startIbm({})
})
afterAll(() => ibm.close())

/** The parameters that our adapter sends, and the counts that it reads. */
async function adapterJob() {
  const adapter = createIbm({ api: ibm.variables.IBM_QUANTUM_API_URL!, iam: ibm.variables.IAM_URL! })
  const { signal } = new AbortController()
  try {
    const credentials = { token: ibm.token, instance: ibm.instance }
    const at = { credentials, place: await adapter.place(credentials, 'ibm_fez', signal) }
    const readout = { kind: 'clbits' as const, bits: [0, 1, 2], registers: [{ name: 'c', size: 3 }] }
    const request = {
      token: createHash('sha256').update('a job of the adapter').digest('hex'),
      target: 'ibm_fez',
      program: { text: firstOfThree, qubits: 3, readout },
      shots: 30,
      name: 'a job',
      secondsMax: 60
    }
    const id = await (await adapter.stage(at, request, signal))(signal)
    ibm.control.advance(60_000)
    const { body } = await ibm.call('GET', `/jobs/${id}?exclude_params=false`)
    return { params: body.params, counts: (await adapter.counts(at, id, request, signal)).counts }
  } finally {
    await adapter.close()
  }
}

test(
  "IBM's client lists devices, submits OpenQASM 3, reads results, and cancels",
  async () => {
    const { params, counts } = await adapterJob()
    expect(counts).toEqual({ '100': 30 })
    const running = promisify(execFile)(
      join(projectRoot, '.venv/bin/python'),
      [join(projectRoot, 'test/emulators/python/ibm_client.py'), ibm.baseUrl, ibm.instance, ibm.controlUrl],
      {
        env: {
          PATH: process.env.PATH,
          PYTHONPATH: join(projectRoot, '.venv/witness'),
          IAM_URL: ibm.variables.IAM_URL,
          QISKIT_FUNCTIONS_EXPERIMENTAL: '1'
        },
        timeout: LOADING_MS,
        maxBuffer: 64 << 20
      }
    )
    running.child.stdin!.end(JSON.stringify({ token: ibm.token, params: [params] }))
    const found = JSON.parse((await running).stdout)
    expect(found.checked).toBe(1)
    expect(found.names).toEqual(['ibm_fez', 'ibm_marrakesh'])
    const device = {
      operational: true,
      pending_jobs: 0,
      qubits: 156,
      max_shots: 100_000,
      pairs: true,
      basis: ['cz', 'id', 'rz', 'sx', 'x'],
      same_basis: true,
      errors: true
    }
    expect(found.devices).toEqual({ ibm_fez: device, ibm_marrakesh: device })
    // Qiskit writes the last bit first.
    expect(found.run).toEqual({
      status: 'DONE',
      counts: [{ c: { '000000001': 20 } }, { first: { '100': 5 }, second: { '00': 5 } }],
      duration: 0.02,
      tags: ['first', 'run'],
      metrics: { qpu_charge_time_seconds: 2, status: 'complete' },
      backend: 'ibm_fez'
    })
    expect(found.plain).toEqual({
      results: [{ data: { c: { samples: ['0x1', '0x1', '0x1'], num_bits: 9 } }, metadata: {} }],
      metadata: {}
    })
    expect(found.ghz).toEqual(['000', '111'])
    expect(found.failure).toEqual({ status: 'ERROR', message: expect.stringContaining('cz on qubits (0, 100)') })
    expect(found.cancelled).toEqual({ before: 'QUEUED', after: 'CANCELLED', found: true })
    // The sampler that runs at IBM sends QPY, the new one the program `executor`.
    expect(found.refused).toEqual([
      expect.stringContaining('does not read circuits in QPY'),
      expect.stringContaining('runs only sampler, not executor')
    ])
  },
  LOADING_MS
)
