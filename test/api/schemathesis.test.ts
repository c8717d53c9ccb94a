// Schemathesis asks every operation of the document with data that it makes up, valid and not: never a fault of ours, and
// never an answer that the document does not describe, to the last field. SCHEMATHESIS_EXAMPLES and SCHEMATHESIS_SEED ask
// longer, and otherwise.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { startApi } from '../support/api.js'
import { asymmetricQiskit, bellQasm3, submission } from '../support/builders.js'
import { type ApiDocument, closed } from '../support/documented.js'
import { later, makePopulatedTeam, type PopulatedTeam } from '../support/populated-team.js'

const EXAMPLES = Number(process.env.SCHEMATHESIS_EXAMPLES ?? 25)
const SEED = process.env.SCHEMATHESIS_SEED ?? '20261121'
const LIMIT_MS = EXAMPLES * 20_000

const checks = [
  'not_a_server_error',
  // What the document forbids is refused.
  'negative_data_rejection',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance'
]

/** Ids that it finds in answers would have it suspend the team and end the session that it works with. */
const settings = `
[cache]
enabled = false
[phases.examples.extra-data-sources]
responses = false
[phases.coverage]
unexpected-methods = ["TRACE"]
[phases.coverage.extra-data-sources]
responses = false
[phases.fuzzing.extra-data-sources]
responses = false
`

const api = await startApi('schemathesis')
const folder = join(projectRoot, '.test', 'schemathesis', api.database.name)
afterAll(() => api.close())

let url: string
let team: PopulatedTeam
let document: ApiDocument

beforeAll(async () => {
  url = await api.listen()
  team = await makePopulatedTeam(api)
  const described = closed((await api.ask('GET', '/openapi.json')).body)
  document = withExamples(withValues(described, await valuesThatExist()), goodBodies(team.teamId))
})

/** By the name of a path parameter or field, for paths that begin so; the first that fits. */
type Values = [path: string, name: string, values: string[]][]

/**
 * Ids that nobody made up, without which most questions would end at a 404. What can be deleted is there for it. Only where
 * every other value is refused: what is no such value counts as forbidden.
 */
async function valuesThatExist(): Promise<Values> {
  const { owner, member, teamId } = team
  await member.ask('PATCH', '/api/profile', { username: 'member-of-all', is_public: true })
  const made = async (path: string, body: unknown): Promise<string> => (await owner.post(path, body)).body.id
  const [suspended, deleted] = [await made('/api/teams', { name: 'a' }), await made('/api/teams', { name: 'b' })]
  const key = await made('/api/team/api-keys', { team_id: teamId, name: 'to be revoked', tier: 'read', kind: 'test' })
  const open = () => owner.submit(submission({ team_id: teamId, not_before: later() }))
  const finished = [team.completedJob, team.failedJob]
  return [
    ['/api/admin/teams', 'id', [suspended]],
    ['/api/admin/jobs', 'id', [await open(), ...finished]],
    ['/api/admin/backends', 'slug', ['marqov-sim']],
    ['/api/teams/{id}/transfer', 'id', [teamId]],
    ['/api/teams', 'id', [deleted]],
    ['/api/team/members', 'userId', [member.id, owner.id]],
    ['/api/team/invitations', 'id', [team.invitation.id]],
    ['/api/team/api-keys', 'id', [key]],
    ['/api/team/secrets', 'id', [team.secretId]],
    ['/api/team/webhooks', 'id', [team.webhookId]],
    ['/api/invitations', 'token', [team.invitation.token]],
    ['/api/auth/sessions', 'id', [team.sessionId]],
    ['/api/profiles', 'username', ['member-of-all']],
    // An open job would have these wait for it.
    ['/api/jobs/{id}/status', 'id', finished],
    ['/api/jobs/{id}/events', 'id', finished],
    ['/api/jobs', 'id', [team.pendingJob, await open(), ...finished]],
    ['/api/jobs/{id}/artifacts', 'name', ['circuit.qasm']],
    ['/api/backends', 'slug', ['local']],
    ['', 'team_id', [teamId]],
    ['/api/jobs/submit', 'backend', ['local', 'aer-statevector']],
    ['/api/playground', 'backend', ['local', 'aer-statevector']]
  ]
}

/** Bodies that made-up ones would hardly be; Schemathesis also asks with each of their fields changed. */
const goodBodies = (teamId: string): Record<string, object> => {
  const credentials = { team_id: teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } }
  return {
    'post /api/jobs/submit': submission({ team_id: teamId }),
    'post /api/playground/run': { code: bellQasm3(), language: 'openqasm', backend: 'local', shots: 10 },
    'post /api/playground/convert': { code: asymmetricQiskit(), language: 'qiskit' },
    'post /api/team/secrets': credentials,
    'post /api/team/secrets/test': credentials,
    'post /api/team/webhooks': { team_id: teamId, url: 'https://hooks.example.org/x', events: ['job.failed'] },
    'post /api/team/invitations': { team_id: teamId, email: 'guest@example.org', role: 'member' }
  }
}

function withExamples(document: ApiDocument, bodies: Record<string, object>): ApiDocument {
  for (const [line, example] of Object.entries(bodies)) {
    const [method, path] = line.split(' ') as [string, string]
    Object.assign(document.paths[path]![method]!.requestBody!.content['application/json']!, { example })
  }
  return document
}

function withValues(document: ApiDocument, values: Values): ApiDocument {
  for (const [path, item] of Object.entries(document.paths))
    for (const { parameters = [], requestBody } of Object.values(item)) {
      const known = (name: string) => values.find(([start, other]) => path.startsWith(start) && other === name)?.[2]
      // What does not fit a schema is made up as well, so there will be others.
      const withKnown = (schema: object, name: string): object =>
        known(name) ? { type: 'string', enum: known(name) } : schema
      for (const parameter of parameters) parameter.schema = withKnown(parameter.schema, parameter.name) as never
      for (const { schema } of Object.values(requestBody?.content ?? {}))
        schema.properties = Object.fromEntries(
          Object.entries((schema.properties ?? {}) as Record<string, object>).map(([name, own]) => [
            name,
            withKnown(own, name)
          ])
        )
    }
  return document
}

/** The operations that may be asked with this credential, and the credential left to the header that every question has. */
function askedWith(scheme: 'session' | 'key'): ApiDocument {
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).filter(
      ([, { security }]) => security.length === 0 || security.some((one) => scheme in one)
    )
    return [path, Object.fromEntries(operations.map(([method, { security: _, ...operation }]) => [method, operation]))]
  })
  const { securitySchemes: _, ...components } = document.components
  return { ...document, components, paths: Object.fromEntries(paths) }
}

/**
 * @returns what it printed, its exit code (0 when nothing was found), and the share of operations that succeeded at least
 * once: a run whose credential died would find nothing.
 */
async function schemathesis(
  scheme: 'session' | 'key',
  header: string,
  ...more: string[]
): Promise<{ code: number; printed: string; succeeded: number }> {
  const own = join(folder, scheme)
  mkdirSync(own, { recursive: true })
  const [file, report] = [join(own, 'openapi.json'), join(own, 'events.ndjson')]
  writeFileSync(file, JSON.stringify(askedWith(scheme)))
  writeFileSync(join(own, 'schemathesis.toml'), settings)
  const args = [
    ...['run', file, '--url', url, '--header', header, '--checks', checks.join(',')],
    ...['--phases', 'examples,coverage,fuzzing', '--max-examples', String(EXAMPLES), '--seed', SEED, '--workers', '2'],
    ...['--generation-database', 'none', '--request-timeout', '60', '--max-failures', '20', '--no-color'],
    ...['--warnings', 'off', '--report', 'ndjson', '--report-ndjson-path', report, ...more]
  ]
  const child = spawn(join(projectRoot, '.venv/bin/schemathesis'), args, {
    cwd: own,
    env: { PATH: process.env.PATH!, HOME: own },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const late = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += chunk))
  child.stderr.on('data', (chunk) => (printed += chunk))
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? -1))
  })
  clearTimeout(late)
  writeFileSync(join(own, 'output.txt'), printed)
  return { code, printed, succeeded: shareThatSucceeded(report) }
}

/** Of the operations in a report: one event a line, those of a finished scenario with every answer. */
function shareThatSucceeded(report: string): number {
  const statuses = new Map<string, Set<boolean>>()
  for (const line of readFileSync(report, 'utf8')
    .split('\n')
    .filter((text) => text.startsWith('{"ScenarioFinished"'))) {
    const { label, interactions = {} } = JSON.parse(line).ScenarioFinished.recorder
    const seen = statuses.get(label) ?? new Set()
    statuses.set(label, seen)
    for (const { response } of Object.values(interactions) as { response: { status_code: number } | null }[])
      seen.add(response !== null && response.status_code < 400)
  }
  return [...statuses.values()].filter((seen) => seen.has(true)).length / statuses.size
}

test(
  'with a session',
  async () => {
    // Would end the session that all others ask with; test/api/openapi.test.ts has its answers.
    const without = ['--exclude-path', '/api/auth/sign-out']
    const found = await schemathesis('session', `Cookie: ${team.owner.cookie}`, ...without)
    expect(found).toMatchObject({ code: 0 })
    expect(found.succeeded).toBeGreaterThan(0.75)
  },
  LIMIT_MS + 10_000
)

test(
  'with a key',
  async () => {
    const found = await schemathesis('key', `Authorization: Bearer ${team.apiKey.key}`)
    expect(found).toMatchObject({ code: 0 })
    expect(found.succeeded).toBeGreaterThan(0.75)
  },
  LIMIT_MS + 10_000
)
