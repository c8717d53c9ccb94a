// Amazon's own Python client, unmodified, works with the emulated AWS; and the emulator finds what Amazon's own simulators find.
// Each of the two loads the SDK, which takes seconds.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { readAnalog } from '../../apps/emulators/braket/analog.js'
import { analogProbabilities } from '../../apps/emulators/braket/analog-shots.js'
import { readOpenQasm } from '../../apps/emulators/braket/openqasm.js'
import { touchedBy, weightsOf } from '../../apps/emulators/simulator/execution.js'
import { type AnalogParts, analogAction } from './analog-programs.js'
import { type Braket, startBraket } from './braket-client.js'

const LOADING_MS = 400_000
let braket: Braket

beforeAll(async () => {
  braket = await startBraket({})
})
afterAll(() => braket.close())

// biome-ignore lint/suspicious/noExplicitAny: what the scripts print
async function python(script: string, args: string[], env: Record<string, string>, input = ''): Promise<any> {
  const running = promisify(execFile)(
    join(projectRoot, '.venv/bin/python'),
    [join(projectRoot, 'test/emulators/python', script), ...args],
    { env: { PATH: process.env.PATH, ...env }, timeout: LOADING_MS, maxBuffer: 64 << 20 }
  )
  running.child.stdin!.end(input)
  const { stdout } = await running
  return JSON.parse(stdout)
}

test(
  "Amazon's client lists devices, submits, reads results, and cancels",
  async () => {
    const { access_key_id, secret_access_key, default_region, s3_bucket } = braket.credentials
    const found = await python('braket_client.py', [s3_bucket!, braket.controlUrl], {
      ...braket.variables,
      BRAKET_ENDPOINT: braket.baseUrl,
      AWS_ACCESS_KEY_ID: access_key_id!,
      AWS_SECRET_ACCESS_KEY: secret_access_key!,
      AWS_DEFAULT_REGION: default_region!,
      AWS_EC2_METADATA_DISABLED: 'true'
    })
    expect(found.account).toBe('123456789012')
    // The client leaves out what is retired.
    expect(Object.keys(found.devices).sort()).toEqual(['Aquila', 'Cepheus-1-108Q', 'Forte 1', 'Garnet', 'SV1', 'dm1'])
    expect(found.devices.Garnet).toMatchObject({ status: 'ONLINE', queue: '0', edges: 62 })
    expect(found.sv1).toEqual({
      state: 'COMPLETED',
      counts: { '101': 100 },
      qubits: [0, 1, 2],
      duration: 20,
      shots: 100
    })
    expect(found.garnet).toEqual({ ...found.sv1, duration: null })
    expect(found.subset).toEqual({ counts: { '10': 10 }, qubits: [2, 1] })
    expect(found.analog).toEqual({ counts: { rrr: 50 } })
    expect(found.refused).toEqual(['ValidationException', expect.stringContaining('from 1 to 5000')])
    expect(found.cancelled).toEqual({ position: '1', state: 'CANCELLED', found: true })
  },
  LOADING_MS
)

const every = [
  'h q[0]; v q[1]; rx(0.3) q[2];',
  'i q[0]; x q[0]; y q[1]; z q[2]; s q[0]; si q[1]; t q[2]; ti q[0]; vi q[1];',
  'ry(1.1) q[0]; rz(0.4) q[1]; phaseshift(0.9) q[2]; U(0.3, 0.5, 1.7) q[0];',
  'prx(0.7, 0.4) q[0]; gpi(0.4) q[1]; gpi2(1.4) q[2];',
  'cnot q[0], q[2]; cy q[2], q[1]; cz q[1], q[0]; cv q[0], q[1];',
  'cphaseshift(0.7) q[0], q[1]; cphaseshift00(0.3) q[1], q[2]; cphaseshift01(1.3) q[2], q[0]; cphaseshift10(0.8) q[0], q[2];',
  'swap q[0], q[2]; iswap q[1], q[2]; pswap(0.6) q[0], q[1]; ecr q[2], q[1];',
  'xx(0.5) q[0], q[1]; yy(0.8) q[1], q[2]; zz(1.3) q[2], q[0]; xy(0.9) q[0], q[2]; ms(0.3, 0.5, 0.7) q[1], q[0];',
  'ccnot q[2], q[0], q[1]; cswap q[1], q[2], q[0];'
]
const layer = 'ry(0.4) q[0]; ry(1.1) q[1]; ry(2.0) q[2]; rz(0.7) q[0]; rz(1.9) q[1]; rx(0.6) q[2];'
const circuits = every.map((gates) => `OPENQASM 3.0;\nqubit[3] q;\n${layer}\n${gates}\n${layer}`)

const ramp = { times: [0, 0.1e-6, 1.4e-6, 1.5e-6], values: [0, 1.5e7, 1.5e7, 0] }
const flat = (value: number) => ({ times: [0, 1.5e-6], values: [value, value] })
const analogs: AnalogParts[] = [
  // A pair that blocks each other, off resonance, with a phase that jumps.
  {
    sites: [
      [0, 0],
      [0, 5.5e-6]
    ],
    amplitude: ramp,
    phase: { times: [0, 0.7e-6, 1.5e-6], values: [0, 1.1, 1.1] },
    detuning: flat(6e6)
  },
  // A ramp of the detuning over five atoms in two rows, with one empty site.
  {
    sites: [
      [0, 0],
      [6e-6, 0],
      [12e-6, 0],
      [0, 7e-6],
      [6e-6, 7e-6],
      [12e-6, 7e-6]
    ],
    filling: [1, 1, 1, 0, 1, 1],
    amplitude: ramp,
    detuning: { times: [0, 1.5e-6], values: [-3e7, 3e7] }
  },
  // Local detuning that differs from atom to atom.
  {
    sites: [
      [0, 0],
      [0, 8e-6],
      [0, 16e-6]
    ],
    amplitude: ramp,
    detuning: flat(2e6),
    local: { magnitude: { times: [0, 0.2e-6, 1.3e-6, 1.5e-6], values: [0, 2e7, 2e7, 0] }, pattern: [0, 0.5, 1] }
  }
]

test(
  "the emulator's probabilities are those of Amazon's simulators",
  async () => {
    const actions = analogs.map(analogAction)
    const wanted = await python('braket_reference.py', [], {}, JSON.stringify({ gates: circuits, analog: actions }))
    const names = [...new Set(circuits.join(' ').match(/[a-zA-Z]\w*(?=[ (][^;]*;)/g))]
    for (const [index, source] of circuits.entries()) {
      const { operations } = readOpenQasm(source, { operations: names, natives: [] }, {})
      const weights = weightsOf(operations, touchedBy(operations))
      for (const [bits, probability] of Object.entries(wanted.gates[index])) {
        const place = [...bits].reduce((sum, bit, qubit) => sum + Number(bit) * 2 ** qubit, 0)
        expect([index, bits, weights[place]]).toEqual([index, bits, expect.closeTo(probability as number, 8)])
      }
    }
    for (const [index, action] of actions.entries()) {
      const weights = analogProbabilities(readAnalog(action))
      const differences = Object.entries(wanted.analog[index]).map(([states, probability]) => {
        const place = [...states].reduce((sum, state, atom) => sum + (state === 'r' ? 2 ** atom : 0), 0)
        return Math.abs(weights[place]! - (probability as number))
      })
      expect([index, differences.length, Math.max(...differences) < 0.002]).toEqual([index, weights.length, true])
    }
  },
  LOADING_MS
)
