// Answers of the playground.
import { Type } from 'typebox'
import type { ErrorCode } from '../../../domain/errors.js'
import { frameworks } from '../../../domain/jobs/framework.js'
import { anything, created, ok, oneOf, type ResponseSet, ref, text } from '../http/response-schema.js'

const runErrors = [
  'execution_error',
  'unsupported_operation',
  'worker_unreachable',
  'worker_not_configured'
] as const satisfies ErrorCode[]

/** What a program's own `main` returns takes the place of these. */
const ofTheProgram = (description: string) => Type.Unknown({ description })

export const playgroundResponses: ResponseSet = {
  schemas: {
    CircuitInfo: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'num_qubits, num_clbits, depth, size, gate_counts, two_qubit_gates, num_measurements, has_mid_circuit_measurement, diagram'
      }
    )
  },
  answers: {
    'POST /api/playground/run': {
      success: ok(
        'The result',
        Type.Object(
          {
            counts: ofTheProgram('Outcome to count, qubit 0 leftmost'),
            backend: text,
            shots: Type.Integer({ minimum: 1 }),
            execution_time_ms: ofTheProgram('Milliseconds'),
            cost_usd: Type.Literal(0),
            language_detected: oneOf(['auto', ...frameworks]),
            circuit_info: ofTheProgram('CircuitInfo; empty when the program returned no circuit'),
            metadata: anything,
            warnings: ofTheProgram('Texts'),
            stdout: ofTheProgram('What the program printed')
          },
          { additionalProperties: true, description: "A program's own `main` may return more fields, and others." }
        )
      ),
      errors: ['backend_unknown', 'backend_retired', 'backend_unavailable', 'language_not_detected', ...runErrors]
    },
    'POST /api/playground/convert': {
      success: ok(
        'The circuit',
        Type.Object({
          qasm: Type.String({ description: 'OpenQASM 3' }),
          circuit_info: ref('CircuitInfo'),
          warnings: Type.Array(text)
        })
      ),
      errors: runErrors
    },
    'POST /api/playground/telemetry': { success: created('It is recorded', ref('Done')) }
  }
}
