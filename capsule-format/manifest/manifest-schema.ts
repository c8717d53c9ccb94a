// The JSON Schema of a manifest's fields (docs/capsules/capsule-format.md names its source). Fields that it does not name are allowed.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { MANIFEST_NAME, packageFault, shownName } from '../payload-file.js'

const text = { type: 'string' }
const number = { type: 'number' }
const integer = { type: 'integer' }
const time = { type: 'string', format: 'date-time' }
const fraction = { type: 'number', minimum: 0, maximum: 1 }
const nullableText = { type: ['string', 'null'] }

const requirements = {
  type: 'object',
  required: ['paradigm', 'max_qubit_count'],
  additionalProperties: false,
  properties: {
    paradigm: {
      type: 'array',
      items: { type: 'string', enum: ['gate-based', 'analog', 'classical', 'annealing'] },
      minItems: 1
    },
    max_qubit_count: { type: 'integer', minimum: 0 },
    gate_set: { type: 'array', items: text }
  }
}

const execution = {
  type: 'object',
  required: ['task_id', 'status', 'backend', 'result_type'],
  if: { properties: { result_type: { const: 'probabilistic' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['verification_settings'] },
  properties: {
    task_id: { type: 'string', pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' },
    status: { type: 'string', enum: ['success', 'failed', 'error'] },
    result_type: { type: 'string', enum: ['probabilistic', 'deterministic'] },
    backend: {
      type: 'object',
      required: ['provider', 'name', 'shots'],
      properties: { provider: text, name: text, shots: { type: 'integer', minimum: 1 } }
    },
    start_time: time,
    end_time: time,
    wall_time_seconds: number,
    cost_usd: number,
    job_id: text,
    verification_settings: {
      type: 'object',
      required: ['epsilon', 'min_shots', 'tolerance_regime'],
      properties: {
        epsilon: fraction,
        epsilon_drift: fraction,
        min_shots: integer,
        tolerance_regime: { type: 'string', enum: ['strict', 'calibration_drift'] }
      }
    },
    metrics: {
      type: 'object',
      properties: {
        total_variation_distance: number,
        tvd_ucb: fraction,
        alpha: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
        energy_distance: number,
        chi_squared_p_value: number
      }
    },
    signatures: { type: 'object' }
  }
}

const schema = {
  type: 'object',
  required: ['version', 'name', 'lifecycle_state'],
  properties: {
    version: { type: 'string', const: '1.0.0' },
    name: { type: 'string', minLength: 1 },
    description: text,
    created_at: time,
    created_by: text,
    lifecycle_state: { type: 'string', enum: ['draft', 'runnable', 'sealed', 'archived'] },
    sealed_at: time,
    sealed_by: text,
    seal_notes: text,
    checksums_digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    derived_from: { type: 'string', pattern: '^mqc:[0-9]+:[0-9a-f]{64}$' },
    requirements,
    task_executions: { type: 'array', items: execution },
    digests: {
      type: 'object',
      additionalProperties: { oneOf: [{ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' }, { type: 'null' }] }
    },
    parameters: { type: 'object' },
    tags: { type: 'array', items: text },
    run_id: nullableText,
    workflow_ref: nullableText,
    environment_ref: nullableText,
    max_budget_usd: { type: ['number', 'null'] },
    num_tasks: integer,
    wall_time_seconds: number,
    actual_cost_usd: number,
    total_shots: integer,
    exit_code: integer,
    exit_message: text,
    extensions: { type: 'object' }
  },
  if: { properties: { lifecycle_state: { enum: ['sealed', 'archived'] } }, required: ['lifecycle_state'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['requirements', 'checksums_digest', 'sealed_at', 'sealed_by'] }
}

const ajv = new Ajv2020({ strict: false, allErrors: false })
addFormats.default(ajv, ['date-time'])
const fits = ajv.compile(schema)

/** @throws ServiceError `validation_error` naming the first field that does not fit. */
export function checkManifest(manifest: unknown): void {
  if (fits(manifest)) return
  const fault = fits.errors![0]!
  const missing = (fault.params as { missingProperty?: string }).missingProperty
  const field = `${fault.instancePath}${missing === undefined ? '' : `/${missing}`}`.slice(1).replaceAll('/', '.')
  const problem = missing === undefined ? (fault.message ?? 'does not fit') : 'is missing'
  throw packageFault(`${MANIFEST_NAME}: ${field === '' ? 'the document' : shownName(field).slice(1, -1)} ${problem}`)
}
