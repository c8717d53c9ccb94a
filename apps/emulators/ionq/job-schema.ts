// The fields that IonQ accepts in a job, and no others. Errors that only compiling reveals fail the job later.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Type } from 'typebox'
import type { WireCircuit, WireGate } from './circuit.js'

export interface Refusal {
  message: string
  /** The fields with invalid values, as paths. */
  keys: string[]
}

interface JobBase {
  backend: string
  shots: number
  name: string | null
  metadata: Record<string, string> | null
  settings: Record<string, unknown>
  dryRun: boolean
  noise: { model: string; seed?: number } | null
}

export type NamedCircuit = WireCircuit & { name?: string }

export type JobRequest = JobBase &
  (
    | { type: 'ionq.circuit.v1'; input: WireCircuit }
    | { type: 'ionq.qasm3.v1'; input: { data: string } }
    | { type: 'ionq.multi-circuit.v1'; circuits: NamedCircuit[] }
  )

const strict = { additionalProperties: false }
const optional = Type.Optional
const qubit = optional(Type.Integer())
const qubits = optional(Type.Array(Type.Integer(), { maxItems: 64 }))
const places = {
  gate: Type.String(),
  target: qubit,
  targets: qubits,
  controls: qubits,
  rotation: optional(Type.Number())
}
const width = optional(Type.Integer({ minimum: 1 }))

const gates = {
  qis: Type.Object(
    {
      ...places,
      control: qubit,
      terms: optional(Type.Array(Type.String())),
      coefficients: optional(Type.Array(Type.Number())),
      time: optional(Type.Number())
    },
    strict
  ),
  native: Type.Object(
    {
      ...places,
      phase: optional(Type.Number()),
      phases: optional(Type.Array(Type.Number())),
      angle: optional(Type.Number()),
      time: optional(Type.Number())
    },
    strict
  )
}
const circuitOf = (gateset: 'qis' | 'native') => Type.Array(gates[gateset], { minItems: 1 })
const single = (gateset: 'qis' | 'native') =>
  Type.Object({ qubits: width, gateset: Type.Literal(gateset), circuit: circuitOf(gateset) }, strict)
const child = (gateset: 'qis' | 'native') =>
  Type.Object(
    {
      name: optional(Type.String()),
      qubits: width,
      gateset: optional(Type.Literal(gateset)),
      circuit: circuitOf(gateset)
    },
    strict
  )

const gateset = Type.Enum(['qis', 'native'])
const multi = Type.Object(
  {
    gateset,
    qubits: width,
    circuits: Type.Array(Type.Object({ gateset: optional(gateset) }), { minItems: 1, maxItems: 5000 })
  },
  strict
)
const qasm = Type.Object({ data: Type.String({ minLength: 1 }), qubits: width }, strict)

const job = Type.Object(
  {
    type: Type.Enum(['ionq.circuit.v1', 'ionq.qasm3.v1', 'ionq.multi-circuit.v1', 'quantum-function', 'qctrl.qaoa.v1']),
    backend: Type.String(),
    input: Type.Object({}),
    name: optional(Type.String({ pattern: '^[A-Za-z0-9 _-]*$' })),
    metadata: optional(Type.Record(Type.String(), Type.String({ maxLength: 400 }))),
    shots: optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    session_id: optional(Type.String()),
    settings: optional(
      Type.Object(
        {
          error_mitigation: optional(
            Type.Object(
              { debiasing: optional(Type.Boolean()), symmetry_verification: optional(Type.Boolean()) },
              strict
            )
          ),
          compilation: optional(
            Type.Object(
              {
                opt: optional(Type.Number()),
                precision: optional(Type.String()),
                gate_basis: optional(Type.String()),
                service_version: optional(Type.String())
              },
              strict
            )
          )
        },
        strict
      )
    ),
    dry_run: optional(Type.Boolean()),
    noise: optional(
      Type.Object(
        {
          model: Type.Enum([
            ...['ideal', 'harmony', 'harmony-1', 'harmony-2'],
            ...['aria-1', 'aria-2', 'forte-1', 'forte-enterprise-1']
          ]),
          seed: optional(Type.Integer())
        },
        strict
      )
    )
  },
  strict
)

const ajv = new Ajv({ allErrors: true, strict: false })
const validators = {
  job: ajv.compile(job),
  qis: ajv.compile(single('qis')),
  native: ajv.compile(single('native')),
  qasm: ajv.compile(qasm),
  multi: ajv.compile(multi),
  qisChild: ajv.compile(child('qis')),
  nativeChild: ajv.compile(child('native'))
}

/** Reads a job from a body, or the reason for its refusal. */
export function readJob(body: unknown): JobRequest | { refusal: Refusal } {
  const faults = check(validators.job, body, '')
  if (faults) return { refusal: faults }
  const sent = body as Record<string, never> & { type: string; input: Record<string, unknown> }
  const base: JobBase = {
    backend: sent.backend!,
    shots: sent.shots ?? 100,
    name: sent.name ?? null,
    metadata: sent.metadata ?? null,
    settings: sent.settings ?? {},
    dryRun: sent.dry_run ?? false,
    noise: sent.noise ?? null
  }
  if (sent.session_id !== undefined) return refuse('session_id', 'this emulator has no sessions')
  switch (sent.type) {
    case 'ionq.circuit.v1': {
      // The input decides between the two gatesets; if it does not, the error is reported for qis.
      const refusal = check(sent.input.gateset === 'native' ? validators.native : validators.qis, sent.input, 'input')
      return refusal ? { refusal } : { ...base, type: sent.type, input: sent.input as unknown as WireCircuit }
    }
    case 'ionq.qasm3.v1': {
      const refusal = check(validators.qasm, sent.input, 'input')
      return refusal ? { refusal } : { ...base, type: sent.type, input: sent.input as { data: string } }
    }
    case 'ionq.multi-circuit.v1': {
      const read = readCircuits(sent.input)
      return 'refusal' in read ? read : { ...base, type: sent.type, ...read }
    }
    default:
      return refuse('type', `this emulator does not run ${sent.type}`)
  }
}

function readCircuits(input: Record<string, unknown>): { circuits: NamedCircuit[] } | { refusal: Refusal } {
  const refusal = check(validators.multi, input, 'input')
  if (refusal) return { refusal }
  const parent = input as { gateset: 'qis' | 'native'; qubits?: number; circuits: Partial<NamedCircuit>[] }
  const circuits: NamedCircuit[] = []
  for (const [index, circuit] of parent.circuits.entries()) {
    const own = circuit.gateset ?? parent.gateset
    const fault = check(
      own === 'qis' ? validators.qisChild : validators.nativeChild,
      circuit,
      `input.circuits.${index}`
    )
    if (fault) return { refusal: fault }
    const width = circuit.qubits ?? parent.qubits
    circuits.push({
      ...(circuit.name !== undefined && { name: circuit.name }),
      ...(width !== undefined && { qubits: width }),
      gateset: own,
      circuit: circuit.circuit as WireGate[]
    })
  }
  const gateCount = circuits.reduce((sum, { circuit }) => sum + circuit.length, 0)
  if (gateCount > 150_000) return refuse('input.circuits', `${gateCount} gates are more than the 150000 of a job`)
  return { circuits }
}

export const refuse = (key: string, reason: string): { refusal: Refusal } => ({
  refusal: { message: `"${key}" was invalid: ${reason}.`, keys: [key] }
})

const shownMax = 5

function check(validate: ValidateFunction, value: unknown, at: string): Refusal | null {
  if (validate(value)) return null
  const errors = (validate.errors ?? []).map((error) => ({ key: keyOf(error, at), reason: reasonOf(error) }))
  const shown = errors.slice(0, shownMax).map(({ key, reason }) => `"${key}" ${reason}`)
  return { message: `${shown.join('; ')}.`, keys: [...new Set(errors.map(({ key }) => key))] }
}

function keyOf({ instancePath, params }: ErrorObject, at: string): string {
  const last = params.missingProperty ?? params.additionalProperty
  return [at, ...instancePath.split('/').slice(1), last].filter((part) => part !== '' && part !== undefined).join('.')
}

function reasonOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not allowed'
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as string[]).join(', ')}`
  return message ?? 'was invalid'
}
