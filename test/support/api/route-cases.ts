// One case for every route, and who is allowed to call it. It is written from the specification, not from the API's own table.
import { createHash, randomBytes } from 'node:crypto'
import { capsuleRouteCases } from '../capsules/capsule-route-cases.js'
import { submission } from '../jobs/builders.js'
import {
  everyKind,
  inTeam,
  type Kind,
  managers,
  managersReading,
  owner,
  ownerOfIt,
  people,
  peopleOrKeys,
  platform,
  type RouteCase,
  readers,
  type Scene,
  writers
} from './callers.js'

const ofJob =
  (rest = '') =>
  async (scene: Scene) =>
    `/api/jobs/${await scene.job()}${rest}`
const ofScript =
  (rest = '') =>
  async (scene: Scene) =>
    `/api/scripts/${await scene.script()}${rest}`
export const email = () => `${randomBytes(5).toString('hex')}@example.org`
const PASSWORD = 'a password of a user'
const bell = { code: submission().inline_code, language: 'openqasm', backend: 'local', shots: 10 }

export const routeCases: Record<string, RouteCase> = {
  ...capsuleRouteCases,

  'GET /': { allowed: everyKind, status: 200, headers: { accept: 'text/html' } },
  'GET /assets/*': { allowed: everyKind, status: 404, path: () => '/assets/none.js' },
  'GET /healthz': { allowed: everyKind, status: 200 },
  'GET /readyz': { allowed: everyKind, status: 200 },
  'GET /openapi.json': { allowed: everyKind, status: 200 },
  'GET /invitations/:token': { allowed: everyKind, status: 200, path: () => '/invitations/any' },
  'GET /reset-password/:token': { allowed: everyKind, status: 200, path: () => '/reset-password/any' },
  'GET /public/:slug': {
    allowed: everyKind,
    status: 200,
    path: () => '/public/any',
    headers: { accept: 'text/html' }
  },
  'GET /api/meta': { allowed: everyKind, status: 200 },
  'GET /api/meta/keys': { allowed: everyKind, status: 200 },
  'GET /api/meta/providers': { allowed: everyKind, status: 200 },
  'GET /api/backends': { allowed: everyKind, status: 200 },
  'GET /api/backends/:slug': { allowed: everyKind, status: 200, path: () => '/api/backends/local' },

  'POST /api/auth/validate-code': { allowed: everyKind, status: 200, body: () => ({ code: 'any' }) },
  'POST /api/auth/sign-up': { allowed: everyKind, status: 400, body: () => ({ email: email(), password: PASSWORD }) },
  'POST /api/auth/sign-in': { allowed: everyKind, status: 401, body: () => ({ email: email(), password: PASSWORD }) },
  'POST /api/auth/forgot-password': { allowed: everyKind, status: 202, body: () => ({ email: email() }) },
  'POST /api/auth/reset-password': {
    allowed: everyKind,
    status: 400,
    body: () => ({ token: 'none', password: PASSWORD })
  },
  'GET /api/auth/oidc/start': { allowed: everyKind, status: [302, 404] },
  'GET /api/auth/oidc/callback': { allowed: everyKind, status: [400, 404] },
  'GET /api/auth/session': { allowed: people, status: 200 },
  'GET /api/auth/sessions': { allowed: people, status: 200 },
  'DELETE /api/auth/sessions/:id': {
    allowed: people,
    // A session of the owner, so other callers get 404.
    status: [204, 404],
    path: async (scene) => `/api/auth/sessions/${await scene.session()}`
  },
  'POST /api/auth/sign-out': { allowed: people, status: 204 },
  'POST /api/auth/change-password': {
    allowed: people,
    status: 400,
    body: () => ({ password: 'not theirs', new_password: PASSWORD })
  },

  'GET /api/profile': { allowed: people, status: 200 },
  'PATCH /api/profile': { allowed: people, status: 200, body: () => ({ bio: 'hello' }) },
  'DELETE /api/profile': { allowed: people, status: 400, body: () => ({ password: 'not theirs' }) },
  'GET /api/profile/deletion': { allowed: people, status: 200 },
  'GET /api/profiles/:username': { allowed: everyKind, status: 404, path: () => '/api/profiles/nobody-at-all' },

  'GET /api/teams': { allowed: peopleOrKeys, status: 200 },
  'POST /api/teams': { allowed: people, status: 201, body: () => ({ name: 'another' }) },
  'PATCH /api/teams/:id': {
    allowed: managers,
    status: 200,
    path: ({ teamId }) => `/api/teams/${teamId}`,
    body: () => ({ name: 'renamed' })
  },
  'DELETE /api/teams/:id': { allowed: owner, status: 200, path: ({ teamId }) => `/api/teams/${teamId}` },
  'POST /api/teams/:id/transfer': {
    allowed: owner,
    status: 200,
    path: ({ teamId }) => `/api/teams/${teamId}/transfer`,
    body: (scene) => ({ user_id: scene.memberId })
  },
  'POST /api/teams/:id/leave': {
    // The owner is allowed to call it, and is refused because owners cannot leave.
    allowed: ['member', 'admin'],
    status: 200,
    path: ({ teamId }) => `/api/teams/${teamId}/leave`
  },
  'GET /api/events': { allowed: peopleOrKeys, status: 200, path: () => '/api/events?follow=false' },
  'GET /api/team/members': { allowed: readers, status: 200, path: inTeam('/api/team/members') },
  'PATCH /api/team/members/:userId': {
    allowed: managers,
    status: 200,
    path: (scene) => `/api/team/members/${scene.memberId}`,
    body: ({ teamId }) => ({ team_id: teamId, role: 'admin' })
  },
  'DELETE /api/team/members/:userId': {
    allowed: managers,
    status: 200,
    path: (scene) => `/api/team/members/${scene.memberId}`,
    body: ({ teamId }) => ({ team_id: teamId })
  },
  'GET /api/team/invitations': { allowed: readers, status: 200, path: inTeam('/api/team/invitations') },
  'POST /api/team/invitations': {
    allowed: managers,
    status: 201,
    body: ({ teamId }) => ({ team_id: teamId, email: email(), role: 'member' })
  },
  'PATCH /api/team/invitations/:id': {
    allowed: managers,
    status: 200,
    path: async (scene) => `/api/team/invitations/${(await scene.invitation()).id}`,
    body: () => ({ action: 'resend' })
  },
  'DELETE /api/team/invitations/:id': {
    allowed: managers,
    status: 200,
    path: async (scene) => `/api/team/invitations/${(await scene.invitation()).id}`
  },
  'GET /api/invitations/:token': {
    allowed: everyKind,
    status: 200,
    path: async (scene) => `/api/invitations/${(await scene.invitation()).token}`
  },
  'POST /api/invitations/:token/accept': {
    allowed: people,
    status: 404,
    path: () => '/api/invitations/none/accept'
  },
  'GET /api/team/api-keys': { allowed: managersReading, status: 200, path: inTeam('/api/team/api-keys') },
  'POST /api/team/api-keys': {
    allowed: managers,
    status: 201,
    body: ({ teamId }) => ({ team_id: teamId, name: 'a key', tier: 'read', kind: 'live' })
  },
  'DELETE /api/team/api-keys/:id': {
    allowed: managers,
    status: 200,
    path: async (scene) => `/api/team/api-keys/${await scene.apiKey()}`
  },
  'GET /api/team/secrets': { allowed: readers, status: 200, path: inTeam('/api/team/secrets') },
  'POST /api/team/secrets': {
    allowed: managers,
    status: 201,
    body: ({ teamId }) => ({ team_id: teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } })
  },
  'POST /api/team/secrets/test': {
    allowed: managers,
    status: 200,
    body: ({ teamId }) => ({ team_id: teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } })
  },
  'DELETE /api/team/secrets/:id': {
    allowed: managers,
    status: 200,
    path: async (scene) => `/api/team/secrets/${await scene.secret()}`
  },
  'GET /api/team/webhooks': { allowed: managersReading, status: 200, path: inTeam('/api/team/webhooks') },
  'POST /api/team/webhooks': {
    allowed: managers,
    status: 201,
    body: ({ teamId }) => ({ team_id: teamId, url: 'https://hooks.example.org/x', events: ['job.completed'] })
  },
  'DELETE /api/team/webhooks/:id': {
    allowed: managers,
    status: 200,
    path: async (scene) => `/api/team/webhooks/${await scene.webhook()}`
  },
  'GET /api/team/webhooks/:id/deliveries': {
    allowed: managersReading,
    status: 200,
    path: async (scene) => `/api/team/webhooks/${await scene.webhook()}/deliveries`
  },
  'POST /api/team/webhooks/:id/test': {
    allowed: managers,
    status: 201,
    path: async (scene) => `/api/team/webhooks/${await scene.webhook()}/test`
  },
  'POST /api/team/webhooks/:id/deliveries/:deliveryId/again': {
    allowed: managers,
    status: 200,
    path: async (scene) => {
      const webhook = await scene.webhook()
      return `/api/team/webhooks/${webhook}/deliveries/${await scene.delivery(webhook)}/again`
    }
  },
  'GET /api/team/budget': { allowed: readers, status: 200, path: inTeam('/api/team/budget') },
  'GET /api/team/usage': { allowed: readers, status: 200, path: inTeam('/api/team/usage') },
  'GET /api/team/audit': { allowed: readers, status: 200, path: inTeam('/api/team/audit') },
  'GET /api/team/audit/verify': { allowed: readers, status: 200, path: inTeam('/api/team/audit/verify') },
  'GET /api/team/retention': { allowed: readers, status: 200, path: inTeam('/api/team/retention') },
  'PATCH /api/team/retention': {
    allowed: owner,
    status: 200,
    body: ({ teamId }) => ({ team_id: teamId, output_days: 30 })
  },
  'PATCH /api/team/budget': { allowed: owner, status: 200, body: ({ teamId }) => ({ team_id: teamId, daily_usd: 5 }) },

  'POST /api/jobs/submit': {
    allowed: writers,
    status: 201,
    body: ({ teamId }) => submission({ team_id: teamId, not_before: new Date(Date.now() + 3_600_000).toISOString() })
  },
  'GET /api/jobs': { allowed: readers, status: 200, path: inTeam('/api/jobs') },
  'GET /api/jobs/managed-runtimes': { allowed: readers, status: 200, path: inTeam('/api/jobs/managed-runtimes') },
  'GET /api/jobs/estimate': {
    allowed: readers,
    status: 200,
    path: ({ teamId }) => `/api/jobs/estimate?backend=local&shots=10&team_id=${teamId}`
  },
  'POST /api/jobs/estimate': {
    allowed: readers,
    status: 200,
    body: ({ teamId }) => ({ backend: 'auto', params: { shots: 10, observables: ['ZZ'] }, team_id: teamId })
  },
  'GET /api/jobs/destinations': { allowed: readers, status: 200, path: inTeam('/api/jobs/destinations') },
  'POST /api/jobs/destinations': {
    allowed: readers,
    status: 200,
    body: ({ teamId }) => ({ params: { shots: 10, observables: ['ZZ'] }, team_id: teamId })
  },
  'POST /api/jobs/compare': {
    allowed: readers,
    status: 200,
    body: async (scene) => ({ a: await scene.completedJob(), b: await scene.completedJob() })
  },
  'GET /api/jobs/:id': { allowed: readers, status: 200, path: ofJob() },
  'GET /api/jobs/:id/result': {
    allowed: readers,
    status: 200,
    path: async (scene) => `/api/jobs/${await scene.completedJob()}/result`
  },
  'GET /api/jobs/:id/status': { allowed: readers, status: 200, path: ofJob('/status') },
  'GET /api/jobs/:id/attempts': { allowed: readers, status: 200, path: ofJob('/attempts') },
  'GET /api/jobs/:id/artifacts': { allowed: readers, status: 200, path: ofJob('/artifacts') },
  // No job has this file. Strangers get the 404 of the job, not of the file.
  'GET /api/jobs/:id/artifacts/:name': { allowed: readers, status: 404, path: ofJob('/artifacts/none') },
  'GET /api/jobs/:id/source': { allowed: readers, status: 200, path: ofJob('/source') },
  'GET /api/jobs/:id/tasks': { allowed: readers, status: 200, path: ofJob('/tasks') },
  'GET /api/jobs/:id/events': {
    allowed: readers,
    status: 200,
    path: async (scene) => `/api/jobs/${await scene.finishedJob()}/events`
  },
  'POST /api/jobs/:id/rerun': { allowed: writers, status: 201, path: ofJob('/rerun') },
  'POST /api/jobs/:id/cancel': { allowed: writers, status: 202, path: ofJob('/cancel') },

  'GET /api/scripts': { allowed: peopleOrKeys, status: 200 },
  'POST /api/scripts': {
    allowed: ownerOfIt,
    status: 201,
    body: async (scene) => ({ job_id: await scene.completedJob(), name: 'saved', description: 'a test', slug: 'saved' })
  },
  'POST /api/scripts/upload': {
    allowed: writers,
    status: 200,
    body: ({ teamId }) => ({ team_id: teamId, name: 'uploaded', script_content: submission().inline_code })
  },
  'GET /api/scripts/:id': { allowed: readers, status: 200, path: ofScript() },
  'PATCH /api/scripts/:id': { allowed: ownerOfIt, status: 200, path: ofScript(), body: () => ({ name: 'renamed' }) },
  'DELETE /api/scripts/:id': { allowed: ownerOfIt, status: 200, path: ofScript() },
  'POST /api/scripts/:id/publish': { allowed: ownerOfIt, status: 200, path: ofScript('/publish') },
  'GET /api/scripts/:id/versions': { allowed: readers, status: 200, path: ofScript('/versions') },
  'GET /api/scripts/:id/versions/:version': { allowed: readers, status: 200, path: ofScript('/versions/1') },
  'GET /api/scripts/:id/execution-options': {
    allowed: readers,
    status: 200,
    path: async (scene) => `${await ofScript('/execution-options')(scene)}?team_id=${scene.teamId}`
  },
  'POST /api/scripts/:id/analyse': {
    allowed: writers,
    status: 200,
    path: ofScript('/analyse'),
    body: ({ teamId }) => ({
      team_id: teamId,
      content: submission().inline_code,
      content_hash: createHash('sha256').update(String(submission().inline_code)).digest('hex'),
      backend: 'local',
      shots: 10
    })
  },

  // The playground concerns no team, except the team of a key and the suspension of all of a person's teams.
  'POST /api/playground/run': { allowed: notReadKeys(), status: [200, 503], body: () => bell },
  'POST /api/playground/convert': {
    allowed: notReadKeys(),
    status: [200, 422, 503],
    body: () => ({ code: 'x = 1', language: 'qiskit' })
  },
  'POST /api/playground/telemetry': {
    allowed: writers,
    status: 201,
    body: ({ teamId }) => ({
      session_id: 's',
      team_id: teamId,
      simulator: 'qulacs-wasm',
      qasm_input: 'x',
      shots: 1,
      qubit_count: 1,
      gate_count: 0,
      execution_time_ms: 1,
      counts: {}
    })
  },

  'PATCH /api/admin/teams/:id': {
    allowed: platform,
    status: 200,
    path: ({ teamId }) => `/api/admin/teams/${teamId}`,
    body: () => ({ slots_max: 1 })
  },
  'POST /api/admin/teams/:id/suspend': {
    allowed: platform,
    status: 200,
    path: ({ teamId }) => `/api/admin/teams/${teamId}/suspend`,
    body: () => ({ reason: 'a test' })
  },
  'POST /api/admin/teams/:id/unsuspend': {
    allowed: platform,
    status: 200,
    path: ({ teamId }) => `/api/admin/teams/${teamId}/unsuspend`
  },
  'GET /api/admin/teams/:id/budgets': {
    allowed: platform,
    status: 200,
    path: ({ teamId }) => `/api/admin/teams/${teamId}/budgets`
  },
  'PUT /api/admin/teams/:id/budgets': {
    allowed: platform,
    status: 200,
    path: ({ teamId }) => `/api/admin/teams/${teamId}/budgets`,
    body: () => ({ daily_usd: 7 })
  },
  'GET /api/admin/teams/:id/storage': {
    allowed: platform,
    status: 200,
    path: ({ teamId }) => `/api/admin/teams/${teamId}/storage`
  },
  'PUT /api/admin/teams/:id/storage': {
    allowed: platform,
    status: 200,
    path: ({ teamId }) => `/api/admin/teams/${teamId}/storage`,
    body: () => ({ limit_bytes: 1_000_000_000 })
  },
  'GET /api/admin/access-codes': { allowed: platform, status: 200 },
  'POST /api/admin/access-codes': { allowed: platform, status: 201, body: () => ({ uses: 1 }) },
  'PATCH /api/admin/backends/:slug': {
    allowed: platform,
    status: 200,
    path: () => '/api/admin/backends/marqov-sim',
    body: () => ({ displayOrder: 3 })
  },
  'GET /api/admin/teams': { allowed: platform, status: 200 },
  'GET /api/admin/users': { allowed: platform, status: 200 },
  'GET /api/admin/jobs': { allowed: platform, status: 200 },
  'GET /api/admin/jobs/:id': {
    allowed: platform,
    status: 200,
    path: async (scene) => `/api/admin/jobs/${await scene.job()}`
  },
  'POST /api/admin/jobs/:id/cancel': {
    allowed: platform,
    status: 202,
    path: async (scene) => `/api/admin/jobs/${await scene.job()}/cancel`
  },
  // The job holds no money, so it cannot be settled.
  'POST /api/admin/jobs/:id/settle': {
    allowed: platform,
    status: 409,
    path: async (scene) => `/api/admin/jobs/${await scene.job()}/settle`,
    body: () => ({ cost_usd: 1, note: 'a test' })
  },
  'GET /api/admin/money': { allowed: platform, status: 200 },
  'GET /api/admin/audit': { allowed: platform, status: 200 },
  'GET /api/admin/system': { allowed: platform, status: 200 }
}

function notReadKeys(): Kind[] {
  return peopleOrKeys.filter((kind) => kind !== 'read key' && kind !== 'owner of a suspended team')
}
