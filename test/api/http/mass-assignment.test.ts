// Fields that a request cannot set are refused by name, on every route that accepts a body, and nothing changes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { openSession } from '../../../db/accounts/accounts.js'
import { newId } from '../../../db/ids.js'
import { invite } from '../../../db/teams/invitations.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import type { Scene } from '../../support/api/callers.js'
import { routeCases } from '../../support/api/route-cases.js'
import { addDraft } from '../../support/capsules/audit-trails.js'
import { addScript } from '../../support/jobs/script-rows.js'

const api = await startApi('mass_assignment')
const { db } = api.database
afterAll(() => api.close())

/** Fields of rows that no request can set. */
const forbidden: Record<string, unknown> = {
  id: newId(),
  owner_id: newId(),
  created_by: newId(),
  invited_by: newId(),
  team: newId(),
  is_platform_admin: true,
  isPlatformAdmin: true,
  is_admin: true,
  password_hash: 'x',
  email_verified_at: '2026-01-01T00:00:00Z',
  token_hash: 'x',
  personal_of: newId(),
  suspended: false,
  suspended_at: null,
  deleted_at: null,
  revoked_at: null,
  created_at: '2026-01-01T00:00:00Z',
  joined_at: '2026-01-01T00:00:00Z',
  validation_status: 'valid',
  masked_value: 'x',
  state: 'published',
  cost: 0,
  estimated_cost_usd: 0,
  spent_usd: 0,
  reserved_usd: 0
}

// A submission drops unknown fields, so the last test checks the stored job instead.
const routes = Object.entries(routeCases).filter(
  // The fields of uploaded files are tested with the import of capsules.
  ([route, { body, headers }]) => body && !headers && route !== 'POST /api/jobs/submit'
)

let admin: TestUser
let scene: Scene
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
  const teamId = (await admin.post('/api/teams', { name: 'Ours' })).body.id as string
  const member = await api.signUp()
  await db.execute(sql`insert into members (team_id, user_id, role) values (${teamId}, ${member.id}, 'member')`)
  const never = () => Promise.reject(new Error('no route with a body is about this'))
  scene = {
    teamId,
    ownerId: admin.id,
    memberId: member.id,
    // A body is refused before its job is looked up.
    job: async () => newId(),
    finishedJob: never,
    completedJob: async () => newId(),
    script: () => addScript(db, { teamId, userId: admin.id }),
    capsuleIn: async () => newId(),
    capsule: () => addDraft(db, teamId, admin.id),
    invitation: async () => {
      const given = { teamId, email: `${newId()}@example.org`, role: 'member' as const, message: null }
      const { invitation, token } = await db.transaction((tx) => invite(tx, { ...given, invitedBy: admin.id }))
      return { id: invitation.id, token }
    },
    apiKey: never,
    secret: never,
    webhook: never,
    delivery: never,
    session: () => openSession(db, admin.id, null)
  }
})

const everything = async (): Promise<unknown[]> =>
  Promise.all(
    [
      'users',
      'teams',
      'members',
      'invitations',
      'api_keys',
      'team_secrets',
      'webhooks',
      'team_budgets',
      'script_analyses',
      'backends'
    ].map(async (table) => [...(await db.execute(sql`select * from ${sql.identifier(table)} order by 1, 2`))])
  )

describe('a field that callers cannot set', () => {
  test.each(routes)('is refused by name by %s', async (route, routeCase) => {
    const [method, pattern] = route.split(' ') as [string, string]
    const path = (await routeCase.path?.(scene)) ?? pattern
    const before = await everything()
    for (const [field, value] of Object.entries(forbidden)) {
      const body = { ...((await routeCase.body!(scene)) as object), [field]: value }
      const answer = await admin.ask(method, path, body)
      expect([field, answer.status, answer.body.error]).toEqual([
        field,
        400,
        expect.stringMatching(new RegExp(`^(body\\.)?${field}: is not a field of this request`))
      ])
    }
    expect(await everything()).toEqual(before)
  })

  test('is dropped by a submission and not stored with the job', async () => {
    const body = { ...(routeCases['POST /api/jobs/submit']!.body!(scene) as object), ...forbidden, status: 'completed' }
    const { status, body: answer } = await admin.post('/api/jobs/submit', body)
    expect(status).toBe(201)
    const job = (await admin.get(`/api/jobs/${answer.job_id}`)).body
    expect(job).toMatchObject({ status: 'pending', user_id: admin.id, team_id: scene.teamId })
    expect(job.id).not.toBe(forbidden.id)
  })
})
