// The OpenAPI document describes every route, and every response matches it, to the last field.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { accessTable } from '../../../apps/api/http/access-table.js'
import { createAccessCode } from '../../../db/accounts/accounts.js'
import { type Headers, PASSWORD, type SendRequest, startApi, type TestUser } from '../../support/api/api.js'
import {
  type ApiDocument,
  createResponseChecker,
  objectsOf,
  type ResponseChecker
} from '../../support/api/documented.js'
import { later, makePopulatedTeam, type PopulatedTeam } from '../../support/api/populated-team.js'
import { tarGz } from '../../support/capsules/capsule-bench.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'
import { addHeldJob } from '../../support/jobs/money-rows.js'
import { sha256 } from '../../support/jobs/script-rows.js'

const api = await startApi('openapi')
afterAll(() => api.close())

/** The console and the document itself are not described. */
const undescribed = [
  'GET /',
  'GET /assets/*',
  'GET /openapi.json',
  'GET /invitations/:token',
  'GET /reset-password/:token',
  'GET /public/:slug'
]
/** Described only where an identity provider is configured; test/api/accounts/oidc.test.ts tests them. */
const sometimes = ['GET /api/auth/oidc/start', 'GET /api/auth/oidc/callback']

let document: ApiDocument
let checker: ResponseChecker
let team: PopulatedTeam
const faults: string[] = []

/** Checks every response. */
const checked =
  (ask: SendRequest): SendRequest =>
  async (method, path, body, headers) => {
    const answer = await ask(method, path, body, headers)
    const fault = checker.faultOf(method, path, answer)
    if (fault) faults.push(fault)
    return answer
  }

beforeAll(async () => {
  // Throws if a route has no response.
  await api.app.ready()
  document = JSON.parse(JSON.stringify(api.app.swagger()))
  checker = createResponseChecker(document)
  team = await makePopulatedTeam(api, checked)
})

const described = (): [line: string, status: string][] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status): [string, string] => [`${method.toUpperCase()} ${path}`, status])
    )
  )

describe('the OpenAPI document', () => {
  test('describes every route of the access table', () => {
    const lines = new Set(described().map(([line]) => line.replaceAll(/\{(\w+)\}/g, ':$1')))
    const missing = Object.keys(accessTable).filter((line) => !lines.has(line))
    expect(missing.sort()).toEqual([...undescribed, ...sometimes].sort())
  })

  test('states which credentials each route accepts', () => {
    const security = (path: string, method = 'get') => document.paths[path]![method]!.security
    expect(security('/api/meta')).toEqual([])
    expect(security('/api/profile')).toEqual([{ session: [] }])
    expect(security('/api/jobs')).toEqual([{ session: [] }, { key: [] }])
    expect(security('/api/admin/audit')).toEqual([{ session: [] }])
  })

  test('does not require body fields with a default, at any depth', () => {
    const objectOf = (schema: object) =>
      objectsOf(document, schema as never)[0] as { required: string[]; properties: Record<string, object> }
    const schemaOf = (path: string, method: string) =>
      objectOf(document.paths[path]![method]!.requestBody!.content['application/json']!.schema)
    expect(schemaOf('/api/scripts/upload', 'post').required).toEqual(['name', 'script_content'])
    const schedule = schemaOf('/api/capsules/{id}/schedule', 'put')
    expect(schedule.required).toEqual(['cron'])
    expect(objectOf(schedule.properties.alert!).required).toEqual([])
  })

  test('does not require parameters with a default', () => {
    const parameters = document.paths['/api/jobs']!.get!.parameters as { name: string; required?: boolean }[]
    expect(parameters.filter(({ required }) => required)).toEqual([])
  })

  test('gives no parameter a name that a generated client uses for a variable of its own', () => {
    const named = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.values(operations).flatMap(({ parameters = [] }) =>
        (parameters as { name: string }[]).map(({ name }) => [path, name])
      )
    )
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter(([, name]) => ['params', 'headers', 'cookies', 'response'].includes(name!))).toEqual([])
  })

  test('lists the refusals that follow from the access table and the request', () => {
    const statuses = (line: string) => described().flatMap(([other, status]) => (other === line ? [status] : []))
    expect(statuses('GET /healthz')).toEqual(['200', '400', '500', '503'])
    expect(statuses('GET /api/jobs/{id}')).toEqual(['200', '400', '401', '404', '429', '500', '503'])
    expect(statuses('POST /api/jobs/submit')).toEqual([
      '201',
      '400',
      '401',
      '402',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503'
    ])
    expect(statuses('POST /api/playground/run')).toEqual([
      '200',
      '400',
      '401',
      '403',
      '413',
      '415',
      '422',
      '429',
      '500',
      '502',
      '503'
    ])
  })
})

describe('responses match the OpenAPI document', () => {
  /** The owner is a platform administrator too. The order lets each request succeed. */
  const questions = (): [method: string, path: string, body?: unknown, headers?: Headers][] => {
    const { teamId, pendingJob, completedJob, failedJob, apiKey, member, scriptId, capsules } = team
    const script = `/api/scripts/${scriptId}`
    const analysis = {
      team_id: teamId,
      content: bellQasm3(),
      content_hash: sha256(bellQasm3()),
      backend: 'local',
      shots: 1
    }
    const jobs = [pendingJob, completedJob, failedJob].flatMap((id) =>
      ['', '/status', '/attempts', '/artifacts', '/source', '/tasks'].map((rest): [string, string] => [
        'GET',
        `/api/jobs/${id}${rest}`
      ])
    )
    jobs.push(['GET', `/api/jobs/estimate?backend=local&shots=10&team_id=${teamId}`])
    jobs.push(['GET', `/api/jobs/destinations?shots=10&circuit_count=2&qubits=26&team_id=${teamId}`])
    jobs.push(['GET', `/api/jobs/managed-runtimes?team_id=${teamId}`])
    const lists = [
      'members',
      'invitations',
      'api-keys',
      'secrets',
      'webhooks',
      'budget',
      'usage',
      'retention',
      'audit',
      'audit/verify'
    ]
    const program = { code: bellQasm3(), language: 'openqasm', backend: 'local', shots: 10 }
    const conversion = { code: 'from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n', language: 'qiskit' }
    const telemetry = {
      session_id: 's',
      team_id: teamId,
      simulator: 'qulacs-wasm',
      qasm_input: 'x',
      shots: 1,
      qubit_count: 1,
      gate_count: 0,
      execution_time_ms: 1,
      counts: { '0': 1 }
    }
    return [
      ['GET', '/healthz'],
      ['GET', '/readyz'],
      ['GET', '/api/meta'],
      ['GET', '/api/meta/keys'],
      ['GET', '/api/meta/providers'],
      ['GET', '/api/profile/deletion'],
      ['GET', '/api/backends'],
      ['GET', '/api/backends/local'],
      ['GET', '/api/auth/session'],
      ['GET', '/api/auth/sessions'],
      ['POST', '/api/auth/validate-code', { code: 'none' }],
      ['POST', '/api/auth/forgot-password', { email: member.email }],
      ['GET', '/api/profile'],
      ['PATCH', '/api/profile', { username: 'ada', bio: 'hello', is_public: true }],
      ['GET', '/api/profiles/ada'],
      ['GET', '/api/teams'],
      ['PATCH', `/api/teams/${teamId}`, { name: 'renamed' }],
      ...lists.map((list): [string, string] => ['GET', `/api/team/${list}?team_id=${teamId}`]),
      ['PATCH', `/api/team/members/${member.id}`, { team_id: teamId, role: 'admin' }],
      ['GET', `/api/invitations/${team.invitation.token}`],
      ['PATCH', `/api/team/invitations/${team.invitation.id}`, { action: 'resend' }],
      ['POST', '/api/team/secrets/test', { team_id: teamId, provider: 'ionq' }],
      ['GET', `/api/team/webhooks/${team.webhookId}/deliveries`],
      ['POST', `/api/team/webhooks/${team.webhookId}/test`],
      ['POST', `/api/team/webhooks/${team.webhookId}/deliveries/${team.deliveryId}/again`],
      ['GET', `/api/team/usage?team_id=${teamId}&months=2`],
      ['PATCH', '/api/team/budget', { team_id: teamId, daily_usd: 50 }],
      ['PATCH', '/api/team/retention', { team_id: teamId, results_days: 30, output_days: null }],
      ['GET', '/api/jobs?limit=2'],
      ...jobs,
      ['GET', `/api/jobs/${completedJob}/artifacts/circuit.qasm`],
      ['GET', `/api/jobs/${completedJob}/artifacts/circuit.qasm`, undefined, { 'if-none-match': '*' }],
      ['GET', `/api/jobs/${completedJob}?result=omit`],
      ['GET', `/api/jobs/${completedJob}/result`],
      ['GET', `/api/jobs/${completedJob}/result`, undefined, { 'if-none-match': '*' }],
      ['GET', `/api/jobs/${completedJob}/events`],
      ['GET', `/api/jobs/${completedJob}/events`, undefined, { 'last-event-id': '999' }],
      ['GET', '/api/events?follow=false'],
      ['POST', `/api/jobs/${completedJob}/rerun`],
      ['POST', '/api/jobs/estimate', { backend: 'auto', params: { shots: 10, points: [{}, {}] }, team_id: teamId }],
      ['POST', '/api/jobs/destinations', { params: { shots: 10, points: [{}, { shots: 5 }] }, team_id: teamId }],
      ['POST', '/api/jobs/compare', { a: completedJob, b: completedJob }],
      ['GET', `/api/jobs/${pendingJob}`, undefined, { authorization: `Bearer ${apiKey.key}` }],
      ['GET', '/api/capsules?limit=3'],
      ['GET', '/api/capsules/public'],
      ['GET', '/api/capsules/public/a-bell-pair'],
      ['GET', '/api/capsules/public/a-bell-pair/export'],
      ['GET', '/api/capsules/public/a-bell-pair/attestation'],
      ['GET', '/api/capsules/public/a-bell-pair/files/tasks%2Fmain%2Fresult.json'],
      ['GET', '/api/capsules/public/a-bell-pair/files/tasks%2Fmain%2Fresult.json', undefined, { 'if-none-match': '*' }],
      ['GET', '/api/capsules/public/a-bell-pair/verifications'],
      ['GET', '/api/schedules/preview?cron=@daily&timezone=Europe/Berlin'],
      ['GET', `/api/capsules/${capsules.runnable}/files/tasks%2Fmain%2Fresult.json`],
      [
        'GET',
        `/api/capsules/${capsules.runnable}/files/tasks%2Fmain%2Fresult.json`,
        undefined,
        { 'if-none-match': '*' }
      ],
      ...Object.values(capsules).map((id): [string, string] => ['GET', `/api/capsules/${id}`]),
      ['GET', `/api/capsules/${capsules.sealed}/audit`],
      ['PATCH', `/api/capsules/${capsules.draft}`, { description: 'changed' }],
      ['POST', `/api/capsules/${capsules.published}/clone`],
      ['GET', `/api/jobs?capsule_id=${capsules.runnable}`],
      ['GET', '/api/scripts?limit=1'],
      ['GET', '/api/scripts?kind=template&q=ghz'],
      ['GET', `${script}/versions`],
      ['GET', `${script}/versions/1`],
      ['POST', `${script}/analyse`, analysis],
      ['GET', `${script}/execution-options?team_id=${teamId}`],
      ['POST', '/api/jobs/submit', { team_id: teamId, script_id: scriptId, backend: 'local', params: { shots: 1 } }],
      ['PATCH', script, { name: 'renamed', requirements: 'numpy\nnosuchpackage' }],
      ['GET', script],
      ['POST', '/api/scripts', { job_id: completedJob, name: 'n', description: 'd', slug: 'from-a-job' }],
      ['POST', '/api/playground/run', program],
      ['POST', '/api/playground/convert', conversion],
      ['POST', '/api/playground/telemetry', telemetry],

      ['GET', '/api/admin/teams'],
      ['GET', '/api/admin/users'],
      ['GET', '/api/admin/jobs'],
      ['POST', '/api/admin/access-codes', { uses: 1, expires_at: later() }],
      ['GET', '/api/admin/access-codes'],
      ['PATCH', '/api/admin/backends/marqov-sim', { displayOrder: 3 }],
      ['GET', `/api/admin/teams/${teamId}/budgets`],
      ['GET', `/api/admin/teams/${teamId}/storage`],
      ['PUT', `/api/admin/teams/${teamId}/storage`, { limit_bytes: 1_000_000_000 }],
      ['PUT', `/api/admin/teams/${teamId}/budgets`, { daily_usd: 7, ceilings: { daily_usd: 70 } }],
      ['PATCH', `/api/admin/teams/${teamId}`, { running_jobs_max: 10, slots_max: null }],
      ['POST', `/api/admin/teams/${teamId}/suspend`, { reason: 'a test' }],
      ['POST', `/api/admin/teams/${teamId}/unsuspend`],
      ['GET', '/api/admin/money'],
      ['GET', '/api/admin/audit'],
      ['GET', '/api/admin/system'],

      // The requests from here on delete what the earlier ones need.
      ['POST', `/api/capsules/${capsules.runnable}/seal`, { exit_code: 0 }],
      ['POST', `/api/capsules/${capsules.sealed}/publish`, { title: 'A Bell pair', description: 'another' }],
      ['POST', `/api/capsules/${capsules.secondSealed}/archive`],
      ['POST', `/api/admin/capsules/${capsules.published}/takedown`, { reason: 'a test' }],
      ['DELETE', `/api/capsules/${capsules.draft}`],
      ['POST', `/api/scripts/${team.secondScriptId}/publish`],
      ['DELETE', script],
      ['POST', `/api/jobs/${pendingJob}/cancel`],
      ['DELETE', `/api/team/members/${member.id}`, { team_id: teamId }],
      ['DELETE', `/api/team/invitations/${team.invitation.id}`],
      ['DELETE', `/api/team/api-keys/${apiKey.id}`],
      ['DELETE', `/api/team/secrets/${team.secretId}`],
      ['DELETE', `/api/team/webhooks/${team.webhookId}`],
      ['DELETE', `/api/auth/sessions/${team.sessionId}`]
    ]
  }

  test('when requests succeed', async () => {
    const ask = checked(team.owner.ask)
    const failed: string[] = []
    for (const question of questions()) {
      const { status, text } = await ask(...question)
      if (status >= 400) failed.push(`${question[0]} ${question[1]} answered ${status}: ${text}`)
    }
    for (const path of ['/api/backends', '/api/backends/local'])
      await ask('GET', path, undefined, { 'if-none-match': String((await ask('GET', path)).headers.etag) })
    expect(failed).toEqual([])
    expect(faults.splice(0)).toEqual([])
  })

  test('when accounts are created and deleted', async () => {
    const ask = checked(api.ask)
    const code = await createAccessCode(api.database.db, { uses: 1 })
    const email = 'guest@example.org'
    expect((await ask('POST', '/api/auth/sign-up', { email, password: PASSWORD, code })).status).toBe(201)
    await ask('POST', '/api/auth/forgot-password', { email })
    const token = /\/reset-password\/([\w-]+)/.exec(api.mails.findLast(({ to }) => to === email)!.text)![1]
    expect((await ask('POST', '/api/auth/reset-password', { token, password: PASSWORD })).status).toBe(200)

    const [ada, eve] = [await api.signUp(), await api.signUp()]
    const { body: mine } = await checked(ada.ask)('POST', '/api/teams', { name: 'ours' })
    const invited = await ada.post('/api/team/invitations', { team_id: mine.id, email: eve.email, role: 'admin' })
    expect(invited.status).toBe(201)
    const link = /\/invitations\/([\w-]+)/.exec(api.mails.findLast(({ to }) => to === eve.email)!.text)![1]
    const steps: [TestUser, string, string, unknown?][] = [
      [eve, 'POST', `/api/invitations/${link}/accept`],
      [ada, 'POST', `/api/teams/${mine.id}/transfer`, { user_id: eve.id }],
      [ada, 'POST', `/api/teams/${mine.id}/leave`],
      [eve, 'DELETE', `/api/teams/${mine.id}`],
      [ada, 'POST', '/api/auth/change-password', { password: PASSWORD, new_password: `${PASSWORD}!` }],
      [ada, 'POST', '/api/auth/sign-out'],
      [eve, 'DELETE', '/api/profile', { password: PASSWORD }]
    ]
    const statuses: number[] = []
    for (const [user, method, path, body] of steps) statuses.push((await checked(user.ask)(method, path, body)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 204, 200])
    const cancelled = await api.signUp()
    const pending = await cancelled.submit(submission({ not_before: later() }))
    await checked(team.owner.ask)('POST', `/api/admin/jobs/${pending}/cancel`)
    const { id: userId, email: of } = cancelled
    const held = await addHeldJob(api.database.db, { userId, email: of }, { cost: 1_000_000n })
    const paid = await checked(team.owner.ask)('POST', `/api/admin/jobs/${held}/settle`, {
      cost_usd: 1.5,
      note: 'a bill'
    })
    expect(paid.status).toBe(200)
    await checked(team.owner.ask)('GET', `/api/admin/jobs/${held}`)
    await checked(team.owner.ask)('GET', '/api/admin/money')
    expect(faults.splice(0)).toEqual([])
  })

  test('when capsules are exported and imported', async () => {
    const ask = checked(team.owner.ask)
    const made = await ask('POST', '/api/capsules/from-job', { job_id: team.completedJob, seal: true })
    const path = `/api/capsules/${made.body.capsule_id}`
    const bytes = tarGz({ 'x/capsule.yaml': 'version: "1.0.0"\nname: x\nlifecycle_state: draft\n' })
    const statuses = [
      await ask('GET', `${path}/export`),
      await ask('GET', `${path}/export?format=rocrate`),
      await ask('GET', `${path}/attestation`),
      await ask('POST', '/api/capsules/import', bytes, { 'content-type': 'application/gzip' }),
      await ask('POST', '/api/capsules/upload', 'name: a capsule', { 'content-type': 'application/yaml' })
    ].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 200, 201, 201])
    expect(faults.splice(0)).toEqual([])
  })

  test('when a capsule is put on a schedule', async () => {
    const ask = checked(team.owner.ask)
    const made = await ask('POST', '/api/capsules/from-job', { job_id: team.completedJob, seal: true })
    const path = `/api/capsules/${made.body.capsule_id}`
    const [from, to] = [new Date(Date.now() - 3_600_000).toISOString(), new Date().toISOString()]
    const alert = { emails: [team.owner.email], on: ['failed'] }
    const statuses = [
      await ask('PUT', `${path}/schedule`, { cron: '*/30 * * * *', timezone: 'Europe/Berlin', alert }),
      await ask('POST', `${path}/schedule/backfill`, { from, to }),
      await ask('GET', `${path}/schedule`),
      await ask('GET', path),
      await ask('GET', `${path}/verifications`),
      await ask('GET', '/api/capsules'),
      await ask('DELETE', `${path}/schedule`)
    ].map(({ status }) => status)
    expect(statuses).toEqual([200, 201, 200, 200, 200, 200, 200])
    expect(faults.splice(0)).toEqual([])
  })

  test('when capsules are run', async () => {
    const ask = checked(team.owner.ask)
    const { body: made } = await ask('POST', '/api/capsules/from-job', { job_id: team.completedJob })
    const path = `/api/capsules/${made.capsule_id}`
    const run = await ask('POST', `${path}/run`, { mode: 'verify' })
    const statuses = [
      run,
      await ask('GET', `${path}/runs`),
      await ask('GET', `${path}/runs/${run.body.capsule_run_id}`),
      await ask('GET', `/api/jobs/${run.body.job_id}`),
      await ask('POST', `${path}/run`, { mode: 'verify', backend: 'local' })
    ].map(({ status }) => status)
    expect(statuses).toEqual([201, 200, 200, 200, 400])
    expect(faults.splice(0)).toEqual([])
  })

  test('when requests with a session or a key are refused', async () => {
    const ada = await api.signUp()
    const { body: mine } = await ada.post('/api/teams', { name: 'poor' })
    const { body: made } = await ada.post('/api/team/api-keys', {
      team_id: mine.id,
      name: 'k',
      tier: 'qpu',
      kind: 'live'
    })
    await ada.ask('PATCH', '/api/team/budget', { team_id: mine.id, per_job_usd: 0 })
    await team.owner.ask('PATCH', '/api/admin/backends/aer-statevector', { pricing: { taskFee: 1 } })
    const program = { code: '?', language: 'auto', backend: 'local', shots: 1 }
    const refusals: [status: number, method: string, path: string, body?: unknown, headers?: Headers][] = [
      [400, 'POST', '/api/jobs/submit', submission({ params: { shots: 0 } })],
      [402, 'POST', '/api/jobs/submit', submission({ team_id: mine.id, backend: 'aer-statevector' })],
      [404, 'GET', `/api/jobs/${team.completedJob}`],
      [413, 'POST', '/api/jobs/submit', 'x'.repeat(5 * 1024 * 1024)],
      [415, 'POST', '/api/jobs/submit', 'x', { 'content-type': 'text/plain' }],
      [422, 'POST', '/api/playground/run', program]
    ]
    const wrong: unknown[] = []
    const credentials: Headers[] = [{ cookie: ada.cookie }, { authorization: `Bearer ${made.key}` }]
    for (const credential of credentials)
      for (const [status, method, path, body, headers] of refusals) {
        const answer = await checked(api.ask)(method, path, body, { ...credential, ...headers })
        if (answer.status !== status) wrong.push([status, method, path, answer.status, answer.text.slice(0, 200)])
      }
    await checked(api.ask)('GET', '/api/jobs')
    await checked(api.ask)('GET', '/api/profile', undefined, { authorization: `Bearer ${made.key}` })
    expect(wrong).toEqual([])
    expect(faults.splice(0)).toEqual([])
  })

  test('in the tests above, which include every described success', () => {
    const successes = described()
      .filter(([, status]) => Number(status) < 400)
      .map(([line, status]) => `${line} ${status}`)
    const unseen = successes.filter((success) => !checker.seen.has(success))
    expect(unseen).toEqual([])
  })
})
