// The simulators of the browser against each other, in Node and in one run: the public specification's quantum-circuit is
// the one to beat. Processor time is compared: each of them has one thread, and other load on the machine does not count.
import loadQulacs from 'qulacs-wasm-simulator-client/lib/wasm/module.js'
import type { Circuit } from '../../apps/console/circuit/circuit.js'
import { readCircuit } from '../../apps/console/openqasm/read-circuit.js'
import { estimateRun } from '../../apps/console/simulators/estimate.js'
import { simulate as own } from '../../apps/console/simulators/own/simulate.js'
import { simulate as quantumCircuit } from '../../apps/console/simulators/quantum-circuit/simulate.js'
import { simulateWith } from '../../apps/console/simulators/qulacs/simulate.js'
import type { Simulate, SimulatorName } from '../../apps/console/simulators/simulation.js'
import { denseCircuit } from '../support/dense-circuit.js'
import { median, printTable } from '../support/table.js'

const DEPTH = 10
const SHOTS = 1000
const ROUNDS = 15
/** V8 compiles what runs often in several steps. */
const WARM_UP = 5
const WIDTHS = [8, 12, 16]
const GOAL_TIMES = 1000
const WIDEST = 20
const GOAL_MS = 1500

let module: ReturnType<typeof loadQulacs> | null = null
const qulacs = simulateWith(() => {
  module ??= loadQulacs()
  return module
})

export async function benchConsoleSimulators(): Promise<void> {
  const rows: string[][] = []
  const estimated: string[][] = []
  for (const qubits of WIDTHS) {
    const circuit = circuitOf(qubits)
    const [ours, compiled] = [await times(own, circuit, ROUNDS), await times(qulacs, circuit, ROUNDS)]
    // One run of 16 qubits takes most of a minute.
    const theirs = await times(quantumCircuit, circuit, 1)
    const factor = theirs / ours
    const goal = qubits === 16 ? ` (goal ${GOAL_TIMES}x: ${factor >= GOAL_TIMES ? 'reached' : 'missed'})` : ''
    const measured: [SimulatorName, number][] = [
      ['statevector-js', ours],
      ['qulacs-wasm', compiled],
      ['quantum-circuit', theirs]
    ]
    estimated.push([
      String(qubits),
      ...measured.map(([name, ms]) => `${((1_000 * estimateRun(name, circuit, SHOTS).seconds) / ms).toFixed(1)}x`)
    ])
    rows.push([
      String(qubits),
      ours.toFixed(1),
      compiled.toFixed(1),
      theirs.toFixed(0),
      `${(compiled / ours).toFixed(1)}x`,
      `${factor.toFixed(0)}x${goal}`
    ])
  }
  const head = [
    'qubits',
    'own ms',
    'qulacs-wasm ms',
    'quantum-circuit ms',
    'faster than qulacs',
    'than quantum-circuit'
  ]
  printTable(`Simulators of the browser: dense, depth ${DEPTH}, ${SHOTS} shots`, head, rows)
  printTable(
    'What a run is said to take at most, against what it took',
    ['qubits', 'own', 'qulacs-wasm', 'quantum-circuit'],
    estimated
  )
  const wide = await times(own, circuitOf(WIDEST), 3)
  printTable(
    `The default simulator, ${WIDEST} qubits`,
    ['ms', 'goal'],
    [[wide.toFixed(0), `< ${GOAL_MS} ms: ${wide < GOAL_MS ? 'reached' : 'missed'}`]]
  )
}

function circuitOf(qubits: number): Circuit {
  const found = readCircuit(denseCircuit(qubits, DEPTH))
  if ('faults' in found) throw new Error(found.faults[0]!.message)
  return found.circuit
}

async function times(simulate: Simulate, circuit: Circuit, rounds: number): Promise<number> {
  const found: number[] = []
  for (let round = rounds > 1 ? -WARM_UP : 0; round < rounds; round++) {
    const before = process.cpuUsage()
    await simulate(circuit, SHOTS, 1, () => {})
    if (round >= 0) found.push(process.cpuUsage(before).user / 1000)
  }
  return median(found)
}
