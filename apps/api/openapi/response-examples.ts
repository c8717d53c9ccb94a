// Examples of responses in the OpenAPI document. They follow from the schemas, with a typical value for each field.
import { bell, id } from './request-examples.js'

type Schema = Record<string, unknown>

const hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const time = '2026-01-15T09:30:00.000Z'

/** Values that belong together, by component. */
const components: Readonly<Record<string, Schema>> = {
  Job: { ...completedJob(), choice: null, entrypoint: null, max_cost_usd: null, result: bellResult() },
  JobSummary: completedJob(),
  JobState: { status: 'completed', estimated_cost_usd: 0, result: bellResult() }
}

/** Of operations whose response can be of two kinds: the usual one. */
export const responseExamples: Readonly<Record<string, object>> = { submitJob: { job_id: id } }

/** Typical values by the name of a field, where the schema allows them. */
const fields: Readonly<Record<string, unknown>> = {
  backend: 'local',
  slug: 'a-bell-pair',
  provider: 'Local',
  name: 'A Bell pair',
  title: 'A Bell pair',
  description: 'Two entangled qubits',
  email: 'ada@example.org',
  username: 'ada',
  display_name: 'Ada',
  url: 'https://jobs.example.org',
  cron: '0 3 * * *',
  timezone: 'Europe/Berlin',
  qasm: bell,
  location: 'Berlin',
  month: '2026-01',
  api_version: '1',
  message: 'All is well',
  license: 'CC-BY-4.0',
  key_id: '0123456789abcdef',
  code: 'welcome-2026',
  error: null,
  start: time,
  end: time,
  date: time.slice(0, 10),
  shots: 1000,
  limit: 50,
  offset: 0,
  total: 1,
  status_reason: null,
  last_error: null
}

function completedJob() {
  const circuit = { kind: 'circuit', format: 'qasm3', script_id: null, script_version: null, sha256: hash }
  const none = { script_id: null, capsule_id: null, capsule_run_id: null, workflow: null, queue: null, cancel: null }
  const free = { estimated_cost_usd: 0, actual_cost_usd: 0, provider_jobs: [] }
  const given = { labels: [], timeout_seconds: 120, not_before: null, framework: 'openqasm', params: { shots: 1000 } }
  return { status: 'completed', source: circuit, attempts: 1, error: null, ...none, ...free, ...given }
}

function bellResult() {
  return {
    counts: { '00': 507, '11': 493 },
    shots: 1000,
    backend: 'local',
    execution_time_ms: 4.2
  }
}

/**
 * A value that the schema allows.
 * @param known the components that a `$ref` can name.
 */
export function exampleOf(schema: Schema, known: Readonly<Record<string, object>>, field = ''): unknown {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1)!
    const example = exampleOf(known[name] as Schema, known, field)
    return components[name] ? { ...(example as Schema), ...components[name] } : example
  }
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const choice = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (choice) {
    const isNullable = choice.some(({ type }) => type === 'null')
    return isNullable && fields[field] === null ? null : exampleOf(choice[0]!, known, field)
  }
  const typical = fields[field]
  switch (schema.type) {
    case 'object':
      return exampleObject(schema, known)
    case 'array':
      return [exampleOf(schema.items as Schema, known, field.replace(/s$/, ''))]
    case 'string':
      return exampleText(schema, field)
    case 'integer':
    case 'number':
      return typeof typical === 'number' ? typical : (schema.minimum ?? schema.exclusiveMinimum ?? 1)
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return {}
  }
}

function exampleObject({ properties = {}, required = [] }: Schema, known: Readonly<Record<string, object>>): Schema {
  const shown = Object.entries(properties as Record<string, Schema>).filter(([name]) =>
    (required as string[]).includes(name)
  )
  return Object.fromEntries(shown.map(([name, schema]) => [name, exampleOf(schema, known, name)]))
}

function exampleText({ format, pattern }: Schema, field: string): string {
  if (format === 'uuid') return id
  if (format === 'date-time') return time
  if (format === 'date') return time.slice(0, 10)
  const typical = fields[field]
  if (typeof typical === 'string' && (pattern === undefined || new RegExp(pattern as string).test(typical)))
    return typical
  if (field.endsWith('sha256')) return hash
  const found = [hash, `sha256:${hash}`, `mqc:1:${hash}`].find((text) =>
    new RegExp((pattern as string) ?? '^$').test(text)
  )
  return found ?? field
}
