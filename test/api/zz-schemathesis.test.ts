// Schemathesis asks every operation of the document with data that it makes up, valid and not: never a fault of ours, and
// never an answer that the document does not describe, to the last field. SCHEMATHESIS_EXAMPLES and SCHEMATHESIS_SEED ask
// longer, and otherwise.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { startApi } from '../support/api.js'
import { submission } from '../support/builders.js'
import { type ApiDocument, closed } from '../support/documented.js'
import { later, makePopulatedTeam, type PopulatedTeam } from '../support/populated-team.js'

const EXAMPLES = Number(process.env.SCHEMATHESIS_EXAMPLES ?? 25)
const SEED = process.env.SCHEMATHESIS_SEED ?? '20261121'
const LIMIT_MS = 400_000

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance'
]

const api = await startApi('schemathesis')
const folder = join(projectRoot, '.test', 'schemathesis', api.database.name)
afterAll(() => api.close())

let url: string
let team: PopulatedTeam
let document: ApiDocument

beforeAll(async () => {
  url = await api.listen()
  team = await makePopulatedTeam(api)
  document = withValues(closed((await api.ask('GET', '/openapi.json')).body), await valuesThatExist())
})

/** By the name of a path parameter or field, for paths that begin so; the first that fits. */
type Values = [path: string, name: string, values: string[]][]

/** Ids that nobody made up, without which most questions would end at a 404. What can be deleted is there for it. */
async function valuesThatExist(): Promise<Values> {
  const { owner, member, teamId } = team
  await member.ask('PATCH', '/api/profile', { username: 'member-of-all', is_public: true })
  const made = async (path: string, body: unknown): Promise<string> => (await owner.post(path, body)).body.id
  const doomed = await made('/api/teams', { name: 'to be suspended and deleted' })
  const key = await made('/api/team/api-keys', { team_id: teamId, name: 'to be revoked', tier: 'read', kind: 'test' })
  const open = await owner.submit(submission({ team_id: teamId, not_before: later() }))
  const finished = [team.completedJob, team.failedJob]
  return [
    ['/api/admin/teams', 'id', [doomed]],
    ['/api/admin/jobs', 'id', [open, ...finished]],
    ['/api/admin/backends', 'slug', ['marqov-sim']],
    ['/api/teams/{id}/transfer', 'id', [teamId]],
    ['/api/teams', 'id', [doomed]],
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
    ['/api/jobs', 'id', [open, ...finished]],
    ['/api/jobs', 'name', ['circuit.qasm']],
    ['/api/backends', 'slug', ['local']],
    ['', 'team_id', [teamId]],
    ['', 'backend', ['local', 'aer-statevector']]
  ]
}

/** A copy of the document in which such a value is as likely as one that only looks like it. */
function withValues(document: ApiDocument, values: Values): ApiDocument {
  for (const [path, item] of Object.entries(document.paths))
    for (const { parameters = [], requestBody } of Object.values(item)) {
      const known = (name: string) => values.find(([start, other]) => path.startsWith(start) && other === name)?.[2]
      const also = <Schema extends object>(schema: Schema, name: string): object =>
        known(name) ? { anyOf: [{ type: 'string', enum: known(name) }, schema] } : schema
      for (const parameter of parameters) parameter.schema = also(parameter.schema, parameter.name) as never
      for (const { schema } of Object.values(requestBody?.content ?? {}))
        schema.properties = Object.fromEntries(
          Object.entries((schema.properties ?? {}) as Record<string, object>).map(([name, own]) => [
            name,
            also(own, name)
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

/** @returns what it printed, and its exit code: 0 when nothing was found. */
async function schemathesis(
  scheme: 'session' | 'key',
  header: string,
  ...more: string[]
): Promise<{ code: number; printed: string }> {
  const own = join(folder, scheme)
  mkdirSync(own, { recursive: true })
  const file = join(own, 'openapi.json')
  writeFileSync(file, JSON.stringify(askedWith(scheme)))
  const args = [
    ...['run', file, '--url', url, '--header', header, '--checks', checks.join(',')],
    ...['--phases', 'coverage,fuzzing', '--max-examples', String(EXAMPLES), '--seed', SEED, '--workers', '2'],
    ...['--generation-database', 'none', '--request-timeout', '60', '--max-failures', '20', '--no-color'],
    ...['--warnings', 'off', ...more, '--report', 'ndjson', '--report-ndjson-path', join(own, 'events.ndjson')]
  ]
  const child = spawn('bash', ['-c', 'time "$0" "$@"', join(projectRoot, '.venv/bin/schemathesis'), ...args], {
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
  return { code, printed }
}

test(
  'with a session',
  async () => {
    // Would end the session that all others ask with; test/api/openapi.test.ts has its answers.
    const without = ['--exclude-path', '/api/auth/sign-out']
    expect(await schemathesis('session', `Cookie: ${team.owner.cookie}`, ...without)).toMatchObject({ code: 0 })
  },
  LIMIT_MS + 10_000
)

test(
  'with a key',
  async () => {
    expect(await schemathesis('key', `Authorization: Bearer ${team.apiKey.key}`)).toMatchObject({ code: 0 })
  },
  LIMIT_MS + 10_000
)
