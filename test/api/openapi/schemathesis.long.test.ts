// Schemathesis calls every operation of the document with generated data, valid and invalid: no call may give a 5xx or
// a response that the document does not describe, to the last field. The long form sends more and different requests:
// SCHEMATHESIS_EXAMPLES=100 SCHEMATHESIS_SEED=2 npm test -- schemathesis.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { beginJob, completeJob } from '../../../db/job-steps/job-steps.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { appendOutput } from '../../../db/jobs/job-events.js'
import { startApi } from '../../support/api/api.js'
import { type ApiDocument, closed, objectsOf } from '../../support/api/documented.js'
import { later, makePopulatedTeam, type PopulatedTeam } from '../../support/api/populated-team.js'
import { runSchemathesis } from '../../support/api/schemathesis.js'
import { bellResult } from '../../support/capsules/capsule-rows.js'
import { asymmetricQiskit, bellQasm3, submission } from '../../support/jobs/builders.js'
import { sha256 } from '../../support/jobs/script-rows.js'
import { everything } from '../../support/lane.js'

const EXAMPLES = Number(process.env.SCHEMATHESIS_EXAMPLES ?? (everything ? 25 : 2))
const SEED = process.env.SCHEMATHESIS_SEED ?? '20261121'
const LIMIT_MS = 60_000 + EXAMPLES * 20_000
/** Share of the operations that have accepted a request; fewer requests reach fewer of them. */
const SUCCEEDED_MIN = EXAMPLES < 25 ? 0.6 : 0.75

// A stream of a team never ends by itself.
const api = await startApi('schemathesis', { streamTimes: { streamMs: 1_000 } })
afterAll(() => api.close())

let url: string
let team: PopulatedTeam
/** A completed job like `team.completedJob`, whose program printed more than is kept. */
let printingJob: string
let document: ApiDocument

beforeAll(async () => {
  url = await api.listen()
  team = await makePopulatedTeam(api)
  printingJob = await jobThatPrinted()
  const described = closed((await api.ask('GET', '/openapi.json')).body)
  document = withExamples(withValues(described, await valuesThatExist()), goodBodies(team))
})

async function jobThatPrinted(): Promise<string> {
  const { db } = api.database
  const fence = { generation: 1 }
  const jobId = await team.owner.submit(submission({ team_id: team.teamId }))
  await beginJob(db, jobId, fence, {})
  const number = (await openAttempt(db, jobId, fence))!
  const attempt = { jobId, task: '', number }
  await appendOutput(db, attempt, { bytes: 0, dropped: 0 }, { text: 'one\n', offset: 0, end: 4, dropped: 0 })
  await appendOutput(db, attempt, { bytes: 4, dropped: 0 }, { text: '', offset: 4, end: 4, dropped: 12 })
  await completeJob(db, jobId, fence, (await completeAttempt(db, jobId, number, bellResult()))!)
  return jobId
}

/** Values by the name of a path parameter or field, for paths with this prefix. The first match is used. */
type Values = [path: string, name: string, values: string[]][]

/**
 * Existing ids, without which most requests would end with 404. Some resources exist only to be deleted. Only fields whose
 * other values are all refused are listed here, because Schemathesis treats all other values as invalid.
 */
async function valuesThatExist(): Promise<Values> {
  const { owner, member, teamId } = team
  await member.ask('PATCH', '/api/profile', { username: 'member-of-all', is_public: true })
  const made = async (path: string, body: unknown): Promise<string> => (await owner.post(path, body)).body.id
  const [suspended, deleted] = [await made('/api/teams', { name: 'a' }), await made('/api/teams', { name: 'b' })]
  const key = await made('/api/team/api-keys', { team_id: teamId, name: 'to be revoked', tier: 'read', kind: 'test' })
  const open = () => owner.submit(submission({ team_id: teamId, not_before: later() }))
  const finished = [team.completedJob, team.failedJob, printingJob]
  const script = { team_id: teamId, name: 'published', script_content: bellQasm3() }
  const published = (await owner.post('/api/scripts/upload', script)).body.script_id as string
  await owner.post(`/api/scripts/${published}/publish`)
  const { draft, runnable, sealed, secondSealed } = team.capsules
  const capsule = (id: string) => `/api/capsules/${id}`
  const schedule = { cron: '0 3 * * *', timezone: 'UTC', paused: true }
  await owner.ask('PUT', `${capsule(team.capsules.published)}/schedule`, schedule)
  const run = await owner.post(`${capsule(team.capsules.published)}/run`, { mode: 'verify' })
  const { publication } = (await owner.ask('GET', capsule(team.capsules.published))).body
  const changed = async (fields: object): Promise<string> =>
    (await owner.post('/api/capsules/create', { team_id: teamId, name: 'to be changed', ...fields })).body.capsule_id
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
    // These requests would wait for a job that has not finished.
    ['/api/jobs/{id}/status', 'id', finished],
    ['/api/jobs/{id}/events', 'id', finished],
    ['/api/jobs/compare', 'a', [team.completedJob, printingJob]],
    ['/api/jobs/compare', 'b', [team.completedJob, printingJob]],
    ['/api/jobs', 'id', [team.pendingJob, await open(), ...finished]],
    ['/api/jobs/{id}/artifacts', 'name', ['circuit.qasm']],
    // One to publish, which cannot be changed afterwards, one to delete, and one that stays.
    ['/api/scripts/{id}/publish', 'id', [team.secondScriptId]],
    ['/api/scripts', 'id', [team.scriptId, published]],
    ['/api/scripts', 'job_id', [team.completedJob]],
    // Each can be sealed, published, archived and deleted once, and reads see it in any of these states.
    ['/api/capsules/public', 'slug', [publication.slug]],
    ['/api/capsules/public/{slug}/files/{name}', 'name', ['tasks%2Fmain%2Fresult.json']],
    ['/api/capsules/{id}/files/{name}', 'name', ['tasks%2Fmain%2Fresult.json']],
    ['/api/admin/capsules', 'id', [team.capsules.published]],
    ['/api/capsules/{id}/runs/{runId}', 'runId', [run.body.capsule_run_id]],
    ['/api/capsules/{id}/seal', 'id', [runnable]],
    ['/api/capsules/{id}/publish', 'id', [sealed]],
    ['/api/capsules/{id}/archive', 'id', [secondSealed]],
    ['/api/capsules/{id}/run', 'id', [draft]],
    ['/api/capsules/{id}', 'id', [team.capsules.published, await changed({}), await changed({ tags: ['a'] })]],
    ['/api/capsules', 'job_id', [team.completedJob]],
    ['/api/backends', 'slug', ['local']],
    ['', 'team_id', [teamId]],
    ['/api/jobs/submit', 'backend', ['local', 'aer-statevector', 'auto']],
    ['/api/jobs/estimate', 'backend', ['local', 'aer-statevector', 'auto']],
    ['/api/playground', 'backend', ['local', 'aer-statevector']]
  ]
}

const backfill = () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  return { from: ago(3), to: ago(1) }
}

/** Bodies that a generator would hardly produce; several in a list. Schemathesis also sends them with their fields changed. */
const goodBodies = ({ teamId, completedJob }: PopulatedTeam): Record<string, object | object[]> => {
  const credentials = { team_id: teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } }
  const content = bellQasm3()
  const script = { team_id: teamId, name: 'A Bell pair', script_content: content }
  return {
    'post /api/scripts/upload': script,
    'post /api/scripts': { job_id: completedJob, name: 'of a job', description: 'd', slug: 'of-a-job' },
    'patch /api/scripts/{id}': { name: 'renamed', requirements: 'numpy' },
    'post /api/scripts/{id}/analyse': {
      team_id: teamId,
      content,
      content_hash: sha256(content),
      backend: 'local',
      shots: 10
    },
    'post /api/capsules/create': { team_id: teamId, name: 'A capsule', tags: ['bell'] },
    'post /api/capsules/from-job': { job_id: completedJob, name: 'of a job' },
    'patch /api/capsules/{id}': { name: 'renamed' },
    'post /api/capsules/{id}/seal': { exit_code: 0 },
    'post /api/capsules/{id}/publish': { title: 'A capsule', description: 'of a Bell pair' },
    'post /api/capsules/{id}/run': { mode: 'template' },
    'put /api/capsules/{id}/schedule': { cron: '0 3 * * *', timezone: 'Europe/Berlin' },
    'post /api/capsules/{id}/schedule/backfill': backfill(),
    'post /api/jobs/submit': [
      submission({ team_id: teamId }),
      submission({ team_id: teamId, params: { shots: 10, points: [{ theta: 1 }, { shots: 5, seed: 1 }] } }),
      submission({
        team_id: teamId,
        inline_code: undefined,
        framework: undefined,
        circuits: [{ format: 'qasm3', payload: content, params: { observables: ['ZZ'] } }]
      }),
      submission({
        team_id: teamId,
        backend: 'auto',
        choose: { max_wait_seconds: 600, min_qubits: 2, hardware: false }
      }),
      submission({ team_id: teamId, params: { shots: 100, observables: ['ZZ', 'XI + 0.5*ZZ'] } })
    ],
    'post /api/jobs/compare': [
      { a: completedJob, b: printingJob },
      { a: printingJob, b: printingJob, margin: 0.1 }
    ],
    'post /api/playground/run': { code: bellQasm3(), language: 'openqasm', backend: 'local', shots: 10 },
    'post /api/playground/convert': { code: asymmetricQiskit(), language: 'qiskit' },
    'post /api/team/secrets': credentials,
    'post /api/team/secrets/test': credentials,
    'post /api/team/webhooks': { team_id: teamId, url: 'https://hooks.example.org/x', events: ['job.failed'] },
    'post /api/team/invitations': { team_id: teamId, email: 'guest@example.org', role: 'member' }
  }
}

function withExamples(document: ApiDocument, bodies: Record<string, object | object[]>): ApiDocument {
  for (const [line, examples] of Object.entries(bodies)) {
    const [method, path] = line.split(' ') as [string, string]
    const content: Record<string, unknown> = document.paths[path]![method]!.requestBody!.content['application/json']!
    delete content.example
    content.examples = Object.fromEntries([examples].flat().map((value, at) => [`example ${at}`, { value }]))
  }
  return document
}

const nobodys = randomUUID()

/** Restricts the operations to these values. An operation with an id is also called with an id that does not exist. */
function withValues(document: ApiDocument, values: Values): ApiDocument {
  for (const [path, item] of Object.entries(document.paths))
    for (const { parameters = [], requestBody } of Object.values(item)) {
      const known = (name: string) => values.find(([start, other]) => path.startsWith(start) && other === name)?.[2]
      const withKnown = (schema: object & { format?: unknown }, name: string): object => {
        const found = known(name)
        return found ? { type: 'string', enum: [...found, ...(schema.format === 'uuid' ? [nobodys] : [])] } : schema
      }
      for (const parameter of parameters) parameter.schema = withKnown(parameter.schema, parameter.name) as never
      for (const { schema } of Object.values(requestBody?.content ?? {}))
        for (const object of objectsOf(document, schema))
          object.properties = Object.fromEntries(
            Object.entries((object.properties ?? {}) as Record<string, object>).map(([name, own]) => [
              name,
              withKnown(own, name)
            ])
          )
    }
  return document
}

/**
 * The operations that need this credential, and for a session also the public ones. No schema names the credential,
 * since each request has it in a header, and Schemathesis would otherwise add generated ones.
 */
function askedWith(scheme: 'session' | 'key'): ApiDocument {
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).filter(
      ([, { security }]) => security.some((one) => scheme in one) || (security.length === 0 && scheme === 'session')
    )
    return [path, Object.fromEntries(operations.map(([method, { security: _, ...operation }]) => [method, operation]))]
  })
  const { securitySchemes: _, ...components } = document.components
  return { ...document, components, paths: Object.fromEntries(paths) }
}

const run = (scheme: 'session' | 'key', header: string, ...more: string[]) =>
  runSchemathesis(askedWith(scheme), {
    name: `${api.database.name}-${scheme}`,
    limitMs: LIMIT_MS,
    args: ['--url', url, '--header', header, '--max-examples', String(EXAMPLES), '--seed', SEED, ...more]
  })

test(
  'with a session',
  async () => {
    // Signing out would end the session of all other calls. test/api/openapi/openapi.test.ts checks its responses.
    const without = ['--exclude-path', '/api/auth/sign-out']
    const { faults, succeeded } = await run('session', `Cookie: ${team.owner.cookie}`, ...without)
    expect(faults).toBe('')
    expect(succeeded).toBeGreaterThan(SUCCEEDED_MIN)
  },
  LIMIT_MS + 10_000
)

test(
  'with a key',
  async () => {
    const { faults, succeeded } = await run('key', `Authorization: Bearer ${team.apiKey.key}`)
    expect(faults).toBe('')
    expect(succeeded).toBeGreaterThan(SUCCEEDED_MIN)
  },
  LIMIT_MS + 10_000
)
