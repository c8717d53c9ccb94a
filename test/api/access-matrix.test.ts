// Every route asked by every kind of caller. What each may do is written down here once more, from the specification and not
// from the table that the api works with.

import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { accessTable } from '../../apps/api/access-table.js'
import { createAccessCode, grantPlatformAdmin, openSession } from '../../db/accounts.js'
import { createApiKey } from '../../db/api-keys.js'
import { newId } from '../../db/ids.js'
import { invite } from '../../db/invitations.js'
import { members, teams } from '../../db/tables/accounts.js'
import { teamSecrets, webhooks } from '../../db/tables/teams.js'
import type { KeyTier } from '../../domain/api-key.js'
import { type Headers, startApi } from '../support/api.js'
import { submission } from '../support/builders.js'
import { addJob, addPerson, forceStatus, type Person } from '../support/rows.js'

const api = await startApi('access_matrix')
const { db } = api.database
afterAll(() => api.close())

const kinds = [
  'anonymous',
  'outsider',
  'former member',
  'member',
  'admin',
  'owner',
  'owner of a suspended team',
  'key of another team',
  'read key',
  'simulate key',
  'qpu key',
  'platform administrator'
] as const
type Kind = (typeof kinds)[number]

const keysOfTheTeam: Kind[] = ['read key', 'simulate key', 'qpu key']
const strangers: Kind[] = ['outsider', 'former member', 'key of another team', 'platform administrator']
const everybody = [...kinds]
const people = kinds.filter((kind) => kind !== 'anonymous' && !kind.includes('key'))
const peopleOrKeys = kinds.filter((kind) => kind !== 'anonymous')
const readers: Kind[] = ['member', 'admin', 'owner', 'owner of a suspended team', ...keysOfTheTeam]
const writers: Kind[] = ['member', 'admin', 'owner', 'simulate key', 'qpu key']
const managers: Kind[] = ['admin', 'owner']
const managersReading: Kind[] = [...managers, 'owner of a suspended team']
const owner: Kind[] = ['owner']
const platform: Kind[] = ['platform administrator']

/** What a request is about: a team made for it alone, and things of it. */
interface Scene {
  teamId: string
  ownerId: string
  job(): Promise<string>
  invitation(): Promise<{ id: string; token: string }>
  apiKey(): Promise<string>
  secret(): Promise<string>
  webhook(): Promise<string>
  session(): Promise<string>
}

interface Question {
  allowed: Kind[]
  /** Of an answer to somebody who may. */
  status: number | number[]
  path?: (scene: Scene) => string | Promise<string>
  body?: (scene: Scene) => unknown
}

const inTeam = (path: string) => (scene: Scene) => `${path}?team_id=${scene.teamId}`
const ofJob =
  (rest = '') =>
  async (scene: Scene) =>
    `/api/jobs/${await scene.job()}${rest}`
const email = () => `${randomBytes(5).toString('hex')}@example.org`
const PASSWORD = 'a password of somebody'
const bell = { code: submission().inline_code, language: 'openqasm', backend: 'local', shots: 10 }

const questions: Record<string, Question> = {
  'GET /healthz': { allowed: everybody, status: 200 },
  'GET /readyz': { allowed: everybody, status: 200 },
  'GET /openapi.json': { allowed: everybody, status: 200 },
  'GET /api/meta': { allowed: everybody, status: 200 },
  'GET /api/backends': { allowed: everybody, status: 200 },
  'GET /api/backends/:slug': { allowed: everybody, status: 200, path: () => '/api/backends/local' },

  'POST /api/auth/validate-code': { allowed: everybody, status: 200, body: () => ({ code: 'any' }) },
  'POST /api/auth/sign-up': { allowed: everybody, status: 400, body: () => ({ email: email(), password: PASSWORD }) },
  'POST /api/auth/sign-in': { allowed: everybody, status: 401, body: () => ({ email: email(), password: PASSWORD }) },
  'POST /api/auth/forgot-password': { allowed: everybody, status: 202, body: () => ({ email: email() }) },
  'POST /api/auth/reset-password': {
    allowed: everybody,
    status: 400,
    body: () => ({ token: 'none', password: PASSWORD })
  },
  'GET /api/auth/oidc/start': { allowed: everybody, status: [302, 404] },
  'GET /api/auth/oidc/callback': { allowed: everybody, status: [400, 404] },
  'GET /api/auth/session': { allowed: people, status: 200 },
  'GET /api/auth/sessions': { allowed: people, status: 200 },
  'DELETE /api/auth/sessions/:id': {
    allowed: people,
    // Of the owner, and so nobody else's.
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
  'GET /api/profiles/:username': { allowed: everybody, status: 404, path: () => '/api/profiles/nobody-at-all' },

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
    body: () => ({ user_id: cast.member.userId })
  },
  'POST /api/teams/:id/leave': {
    // The owner may ask, and is told that owners cannot.
    allowed: ['member', 'admin'],
    status: 200,
    path: ({ teamId }) => `/api/teams/${teamId}/leave`
  },
  'GET /api/team/members': { allowed: readers, status: 200, path: inTeam('/api/team/members') },
  'PATCH /api/team/members/:userId': {
    allowed: managers,
    status: 200,
    path: () => `/api/team/members/${cast.member.userId}`,
    body: ({ teamId }) => ({ team_id: teamId, role: 'admin' })
  },
  'DELETE /api/team/members/:userId': {
    allowed: managers,
    status: 200,
    path: () => `/api/team/members/${cast.member.userId}`,
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
    allowed: everybody,
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
  'GET /api/team/budget': { allowed: readers, status: 200, path: inTeam('/api/team/budget') },
  'PATCH /api/team/budget': { allowed: owner, status: 200, body: ({ teamId }) => ({ team_id: teamId, daily_usd: 5 }) },

  'POST /api/jobs/submit': {
    allowed: writers,
    status: 201,
    body: ({ teamId }) => submission({ team_id: teamId, not_before: new Date(Date.now() + 3_600_000).toISOString() })
  },
  'GET /api/jobs': { allowed: readers, status: 200, path: inTeam('/api/jobs') },
  'GET /api/jobs/:id': { allowed: readers, status: 200, path: ofJob() },
  'GET /api/jobs/:id/status': { allowed: readers, status: 200, path: ofJob('/status') },
  'GET /api/jobs/:id/attempts': { allowed: readers, status: 200, path: ofJob('/attempts') },
  'GET /api/jobs/:id/artifacts': { allowed: readers, status: 200, path: ofJob('/artifacts') },
  // Nobody has such a file; strangers do not even hear that of the file, but of the job.
  'GET /api/jobs/:id/artifacts/:name': { allowed: readers, status: 404, path: ofJob('/artifacts/none') },
  'POST /api/jobs/:id/cancel': { allowed: writers, status: 202, path: ofJob('/cancel') },

  // The playground is about no team; a key's team and the suspension of all of a person's teams count.
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
  'POST /api/admin/jobs/:id/cancel': {
    allowed: platform,
    status: 202,
    path: async (scene) => `/api/admin/jobs/${await scene.job()}/cancel`
  },
  'GET /api/admin/audit': { allowed: platform, status: 200 },
  'GET /api/admin/system': { allowed: platform, status: 200 }
}

function notReadKeys(): Kind[] {
  return peopleOrKeys.filter((kind) => kind !== 'read key' && kind !== 'owner of a suspended team')
}

const cast = {} as Record<'outsider' | 'former' | 'member' | 'admin' | 'owner' | 'suspended' | 'platform', Person>
beforeAll(async () => {
  for (const name of ['outsider', 'former', 'member', 'admin', 'owner', 'suspended', 'platform'] as const)
    cast[name] = await addPerson(db)
  await grantPlatformAdmin(db, cast.platform.email)
  await createAccessCode(db, { code: 'any', uses: 1 })
})

async function addTeam(roles: Partial<Record<'owner' | 'admin' | 'member', Person>>): Promise<string> {
  const id = newId()
  await db.insert(teams).values({ id, name: 'a team' })
  for (const [role, { userId }] of Object.entries(roles))
    await db.insert(members).values({ teamId: id, userId, role: role as 'owner' })
  return id
}

/** The headers of a caller of this kind, in a scene of their own. */
async function stage(kind: Kind): Promise<{ scene: Scene; headers: Headers }> {
  const suspended = kind === 'owner of a suspended team'
  const head = suspended ? cast.suspended : cast.owner
  const teamId = await addTeam({ owner: head, admin: cast.admin, member: cast.member })
  const scene: Scene = {
    teamId,
    ownerId: head.userId,
    job: () => addJob(db, head, { submission: { teamId } }),
    invitation: async () => {
      const given = { teamId, email: email(), role: 'member' as const, message: null, invitedBy: head.userId }
      const { invitation, token } = await db.transaction((tx) => invite(tx, given))
      return { id: invitation.id, token }
    },
    apiKey: async () => (await makeKey(teamId, head, 'read')).id,
    secret: async () => {
      const id = newId()
      const sealed = { ringKeyId: 'k', wrappedKey: Buffer.alloc(60), sealedValue: Buffer.alloc(40) }
      await db
        .insert(teamSecrets)
        .values({ id, teamId, provider: 'ionq', keyName: 'api_key', ...sealed, validationStatus: 'untested' })
      return id
    },
    webhook: async () => {
      const id = newId()
      const sealed = { ringKeyId: 'k', wrappedKey: Buffer.alloc(60), sealedSecret: Buffer.alloc(40) }
      await db
        .insert(webhooks)
        .values({ id, teamId, url: 'https://hooks.example.org', events: ['job.failed'], ...sealed })
      return id
    },
    session: async () => {
      await openSession(db, head.userId, 'to be ended')
      const [row] = await db.execute(
        sql`select id from sessions where user_id = ${head.userId} and user_agent = 'to be ended' order by id desc limit 1`
      )
      return row!.id as string
    }
  }
  return { scene, headers: await credentials(kind, scene) }
}

const person: Partial<Record<Kind, () => Person>> = {
  outsider: () => cast.outsider,
  'former member': () => cast.former,
  member: () => cast.member,
  admin: () => cast.admin,
  owner: () => cast.owner,
  'owner of a suspended team': () => cast.suspended,
  'platform administrator': () => cast.platform
}

async function credentials(kind: Kind, { teamId }: Scene): Promise<Headers> {
  if (kind === 'anonymous') return {}
  if (kind === 'key of another team')
    return bearer((await makeKey(await addTeam({ owner: cast.outsider }), cast.outsider, 'qpu')).key)
  if (keysOfTheTeam.includes(kind))
    return bearer((await makeKey(teamId, cast.owner, kind.split(' ')[0] as KeyTier)).key)
  return { cookie: `qjs_session=${await openSession(db, person[kind]!().userId, null)}` }
}

async function makeKey(teamId: string, creator: Person, tier: KeyTier): Promise<{ id: string; key: string }> {
  const given = { teamId, createdBy: creator.userId, name: 'k', tier, kind: 'live' as const }
  const { row, key } = await createApiKey(db, { ...given, dailyLimit: null, expiresAt: null })
  return { id: row.id, key }
}

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` })

/** How a caller who may not is refused. */
function refusal(kind: Kind, allowed: Kind[]): number {
  if (kind === 'anonymous') return 401
  if (allowed === platform) return 404
  if (kind.includes('key')) {
    // What only people may do, a key hears of before anything else.
    const forKeys = allowed.some((other) => other.includes('key'))
    if (!forKeys) return 403
    return kind === 'key of another team' ? 404 : 403
  }
  return strangers.includes(kind) ? 404 : 403
}

describe('every route', () => {
  test('is in the table and has a question here, and the other way round', () => {
    expect(Object.keys(questions).sort()).toEqual(Object.keys(accessTable).sort())
    const missing = Object.keys(accessTable).filter((line) => {
      const [method, url] = line.split(' ') as ['GET', string]
      return !api.app.hasRoute({ method, url })
    })
    expect(missing).toEqual([])
  })

  test.each(Object.entries(questions))(
    '%s lets in who may, and refuses everybody else alike',
    async (route, question) => {
      const method = route.split(' ')[0]!
      const wrong: unknown[] = []
      for (const kind of kinds) {
        const { scene, headers } = await stage(kind)
        const path = (await question.path?.(scene)) ?? route.split(' ')[1]!
        const body = question.body?.(scene)
        if (kind === 'owner of a suspended team')
          await db.execute(
            sql`update teams set suspended_at = now(), suspended_reason = 'a test' where id = ${scene.teamId}`
          )
        const answer = await api.ask(method, path, body, headers)
        const allowed = question.allowed.includes(kind)
        const statuses = allowed ? [question.status].flat() : [refusal(kind, question.allowed)]
        const suspension = !allowed && kind === 'owner of a suspended team' && question.allowed !== platform
        const fits = statuses.includes(answer.status) && (!suspension || answer.body.code === 'TEAM_SUSPENDED')
        if (!fits) wrong.push({ kind, expected: statuses, got: answer.status, text: answer.text.slice(0, 200) })
        // Else somebody would belong to more teams than anybody may.
        await db.execute(sql`delete from members`)
      }
      expect(wrong).toEqual([])
    }
  )
})

describe('what does not exist and what is not theirs', () => {
  const ids = Object.entries(questions).filter(
    ([route, { path, allowed }]) => path && /:(id|userId)\b/.test(route) && allowed !== platform
  )

  test.each(ids)(
    '%s answers an outsider as it answers everybody for an id that does not exist',
    async (route, question) => {
      const method = route.split(' ')[0]!
      const { scene, headers } = await stage('outsider')
      const path = await question.path!(scene)
      const theirs = await api.ask(method, path, question.body?.(scene), headers)
      // An id of this team's, or the team itself, is replaced by one that nobody has.
      const nobodys = path.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, randomUUID())
      const body = question.body?.(scene)
      const none = await api.ask(method, nobodys, body, headers)
      expect([theirs.status, theirs.text]).toEqual([none.status, none.text])
      expect(theirs.status).toBe(404)
    }
  )

  test.each(ids)('%s answers an id that is none with 400 or 404', async (route, question) => {
    const { scene, headers } = await stage('owner')
    const path = route.split(' ')[1]!
    for (const id of ['x', '0', '%00', `urn:uuid:${randomUUID()}`, "';--", '\u{1f511}']) {
      const asked = path.replace(/:(id|userId)\b/, encodeURIComponent(id)).replace(/%2500/, '%00')
      const answer = await api.ask(route.split(' ')[0]!, asked, question.body?.(scene), headers)
      expect([id, [400, 404].includes(answer.status)]).toEqual([id, true])
    }
  })
})

test('a key is worth nothing from the moment in which its creator leaves, is removed, or it is revoked or runs out', async () => {
  const ends: ((teamId: string, keyId: string) => Promise<unknown>)[] = [
    (teamId) => db.execute(sql`delete from members where team_id = ${teamId} and user_id = ${cast.admin.userId}`),
    (_team, id) => db.execute(sql`update api_keys set revoked_at = now() where id = ${id}`),
    (_team, id) => db.execute(sql`update api_keys set expires_at = now() - interval '1 second' where id = ${id}`)
  ]
  for (const end of ends) {
    const teamId = await addTeam({ owner: cast.owner, admin: cast.admin })
    const { id, key } = await makeKey(teamId, cast.admin, 'qpu')
    expect((await api.ask('GET', '/api/jobs', undefined, bearer(key))).status).toBe(200)
    await end(teamId, id)
    expect((await api.ask('GET', '/api/jobs', undefined, bearer(key))).status).toBe(401)
  }
})

test('a job that is over stays as it is, whoever may cancel', async () => {
  const { scene, headers } = await stage('owner')
  const id = await scene.job()
  await forceStatus(db, id, { status: 'completed' })
  expect((await api.ask('POST', `/api/jobs/${id}/cancel`, undefined, headers)).status).toBe(409)
})
