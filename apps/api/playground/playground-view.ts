// The responses of the playground. Results of programs are passed on as the text that the executor sent.
import { type Static, Type } from 'typebox'
import { frameworks } from '../../../domain/jobs/framework.js'
import { jsonFields, jsonObject } from '../../../domain/json/json-text.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { readRun } from '../../../domain/verification/run-counts.js'
import { anything, type JsonText, text } from '../http/response.js'

/** `auto` when no language was given and none was detected. */
export const languages = ['auto', ...frameworks] as const

const ofProgram = (description: string) => Type.Unknown({ description })

/** The value that a program's own `main` returns replaces the fields of unknown type. */
export const RunResult = Type.Object(
  {
    counts: ofProgram('Outcome to count, qubit 0 leftmost'),
    backend: text,
    shots: Type.Integer({
      minimum: 0,
      description:
        'The shots that ran, which a program can choose. Where they are not known, such as on a simulator of its own, the sum of the counts that it returned; 0 where it returned none, or more than 1 MiB'
    }),
    execution_time_ms: ofProgram('Milliseconds'),
    cost_usd: Type.Literal(0),
    language_detected: oneOf(languages),
    circuit_info: ofProgram('CircuitInfo; empty when the program returned no circuit'),
    metadata: anything,
    warnings: ofProgram('Texts'),
    stdout: ofProgram('What the program printed')
  },
  { additionalProperties: true, description: "A program's own `main` may return more fields." }
)

const CircuitInfo = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    {},
    {
      $id: 'CircuitInfo',
      additionalProperties: true,
      description:
        'num_qubits, num_clbits, depth, size, gate_counts, two_qubit_gates, num_measurements, has_mid_circuit_measurement, diagram'
    }
  )
)

export const ConvertedCircuit = Type.Object({
  qasm: Type.String({ description: 'OpenQASM 3' }),
  circuit_info: CircuitInfo,
  warnings: Type.Array(text)
})

/** The executor's result with the playground's own fields; every value of the result keeps its exact text. */
export function runResultJson(
  result: string,
  run: { backend: string; language: string }
): JsonText<Static<typeof RunResult>> {
  const fields = jsonFields(result)
  const own = [
    ['backend', JSON.stringify(run.backend)],
    ['shots', shotsOf(result, fields)],
    ['cost_usd', '0'],
    ['language_detected', JSON.stringify(run.language)]
  ] as const
  // The value that a program's `main` returned may lack fields, have others, and claim facts that only the service can state.
  const none = [
    ['counts', '{}'],
    ['execution_time_ms', '0'],
    ['circuit_info', '{}'],
    ['metadata', '{}'],
    ['warnings', '[]'],
    ['stdout', '""']
  ] as const
  return jsonObject(new Map([...none, ...fields, ...own])) as JsonText<Static<typeof RunResult>>
}

/**
 * The shots that ran, as JSON text. A program can return `shots` of its own, so the metadata count, which the executor alone
 * writes; they are null where it does not know the shots.
 */
function shotsOf(result: string, fields: Map<string, string>): string {
  const metadata = fields.get('metadata')
  const ran = metadata?.startsWith('{') ? jsonFields(metadata).get('shots_requested') : undefined
  if (ran !== undefined && /^[1-9]\d*$/.test(ran)) return ran
  if (result.length > SUMMED_MAX) return '0'
  let total = 0
  for (const { counts } of readRun(result, ON_A_SIMULATOR).circuits.values())
    for (const outcome in counts) total += counts[outcome]!
  return String(total)
}

/** In characters. Parsing more would stop the api for others. */
const SUMMED_MAX = 1024 * 1024
const ON_A_SIMULATOR = { hardware: false, local: true, completedAt: null }

export function circuitJson(converted: string): JsonText<Static<typeof ConvertedCircuit>> {
  const fields = jsonFields(converted)
  const text = jsonObject(['qasm', 'circuit_info', 'warnings'].map((name) => [name, fields.get(name)]))
  return text as JsonText<Static<typeof ConvertedCircuit>>
}
