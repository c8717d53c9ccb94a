// Reads the results of a task. They lie in the team's own bucket, so nothing about them is certain.
import {
  addUp,
  countsOfProbabilities,
  countsOfSites,
  leftOutText,
  type SiteShot
} from '../../../domain/backends/provider-counts.js'
import type { ProviderJobCounts, ProviderProgram } from '../adapter.js'

interface Task {
  program: ProviderProgram
  shots: number
}

interface Result {
  braketSchemaHeader?: { name?: unknown } | null
  measurements?: unknown
  measurementProbabilities?: unknown
  measuredQubits?: unknown
  additionalMetadata?: { simulatorMetadata?: { executionDuration?: unknown } | null } | null
}

/** For what results contain in addition to each shot: the program, its compiled form, calibrations. */
const BESIDES_SHOTS = 4 * 1024 * 1024
const RESULT_MAX = 32 * 1024 * 1024
const OUTCOMES_MAX = 65_536

/** How many bytes the results can have: larger ones are not those of this task. */
export const resultBytesMax = ({ program: { qubits }, shots }: Task): number =>
  Math.min(RESULT_MAX, BESIDES_SHOTS + shots * (256 + 8 * qubits))

const GATES = 'braket.task_result.gate_model_task_result'
const ANALOG = 'braket.task_result.analog_hamiltonian_simulation_task_result'

/** @throws Error with the reason when the results cannot be read, or are those of another program. */
export function countsOfResult(text: string, task: Task): ProviderJobCounts {
  const result = JSON.parse(text) as Result | null
  const name = result?.braketSchemaHeader?.name
  const expected = isAnalog(task.program) ? ANALOG : GATES
  if (!result || name !== expected) throw new Error(`they are not of the schema ${expected}`)
  const read = isAnalog(task.program) ? analogCounts(result, task) : gateCounts(result, task)
  return { ...read, executionTimeMs: duration(result), calibrationId: null }
}

export const isAnalog = ({ readout }: ProviderProgram): boolean => readout.kind === 'sites'

type Counts = Pick<ProviderJobCounts, 'counts' | 'source' | 'probabilities' | 'warnings'>

function analogCounts({ measurements }: Result, { program, shots }: Task): Counts {
  if (!Array.isArray(measurements)) throw new Error('they have no list of measurements')
  if (measurements.length > shots)
    throw new Error(`they have ${measurements.length} shots, and ${shots} were requested`)
  const { counts, leftOut } = countsOfSites((measurements as (Measurement | null)[]).map(siteShot), program.readout)
  if (counts.size === 0) throw new Error(`none of the ${leftOut} shots succeeded`)
  const warning = leftOutText(leftOut, shots)
  return {
    counts: Object.fromEntries(counts),
    source: 'provider_measurements',
    probabilities: null,
    ...(warning !== null && { warnings: [warning] })
  }
}

interface Measurement {
  shotMetadata?: { shotStatus?: unknown } | null
  shotResult?: { preSequence?: unknown; postSequence?: unknown } | null
}

function siteShot(measurement: Measurement | null): SiteShot {
  const { preSequence, postSequence } = measurement?.shotResult ?? {}
  return {
    status: String(measurement?.shotMetadata?.shotStatus),
    before: Array.isArray(preSequence) ? preSequence : null,
    after: Array.isArray(postSequence) ? postSequence : null
  }
}

function gateCounts(result: Result, task: Task): Counts {
  const { measurements, measurementProbabilities: probabilities } = result
  const reader = createReader(result.measuredQubits, task.program)
  if (Array.isArray(measurements) && measurements.length > 0) return measured(measurements, reader, task.shots)
  if (probabilities === null || typeof probabilities !== 'object') throw new Error('they have no measurements')
  const entries = Object.entries(probabilities)
  if (entries.length > Math.max(task.shots, OUTCOMES_MAX)) throw new Error(`they have ${entries.length} outcomes`)
  const byBits = addUp(entries.map(([bits, share]) => [reader([...bits].map(Number)), share as number] as const))
  return {
    counts: Object.fromEntries(countsOfProbabilities(byBits, task.shots)),
    source: 'probability_derived',
    probabilities: Object.fromEntries(byBits)
  }
}

function measured(rows: unknown[], reader: Reader, shots: number): Counts {
  if (rows.length > shots) throw new Error(`they have ${rows.length} shots, and ${shots} were requested`)
  const counts = new Map<string, number>()
  for (const row of rows) {
    const bits = reader(row)
    counts.set(bits, (counts.get(bits) ?? 0) + 1)
  }
  return { counts: Object.fromEntries(counts), source: 'provider_measurements', probabilities: null }
}

/** Converts the bits of one shot, in the order of `measuredQubits`, to the canonical bit string. */
type Reader = (row: unknown) => string

function createReader(measuredQubits: unknown, program: ProviderProgram): Reader {
  const columns = columnsOf(measuredQubits)
  const places = placesOf(columns, program)
  return (row) => {
    if (!Array.isArray(row) || row.length !== columns.size) throw new Error('a shot has another number of bits')
    let text = ''
    for (const place of places) {
      const bit: unknown = place === null ? 0 : row[place]
      if (bit !== 0 && bit !== 1) throw new Error('a bit is neither 0 nor 1')
      text += bit
    }
    return text
  }
}

/** The place of each measured qubit in a shot. */
function columnsOf(measuredQubits: unknown): Map<number, number> {
  if (!Array.isArray(measuredQubits)) throw new Error('they do not name the measured qubits')
  const columns = new Map((measuredQubits as unknown[]).map((qubit, place) => [qubit as number, place]))
  if (columns.size !== measuredQubits.length) throw new Error('they name a measured qubit twice')
  return columns
}

/** Where each canonical bit stands in a shot; `null` for a bit that the program never measures, which is 0. */
function placesOf(columns: Map<number, number>, { text, readout }: ProviderProgram): (number | null)[] {
  // A readout names the qubit after the last for a bit that is always 0.
  const declared = Number(/^qubit\[(\d{1,4})\] q;$/m.exec(text)?.[1])
  if (!declared) throw new Error('the program declares no qubits')
  const foreign = [...columns.keys()].find((qubit) => !(qubit < declared))
  if (foreign !== undefined) throw new Error(`they name qubit ${foreign}, and the program has ${declared} qubits`)
  return readout.bits.map((qubit) => {
    if (qubit === declared) return null
    const place = columns.get(qubit)
    if (place === undefined) throw new Error(`qubit ${qubit} was not measured`)
    return place
  })
}

function duration({ additionalMetadata }: Result): number | null {
  const value = additionalMetadata?.simulatorMetadata?.executionDuration
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : null
}
