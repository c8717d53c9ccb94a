// Every route asked by every kind of caller (test/support/access-questions.ts).

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { accessTable } from '../../apps/api/access-table.js'
import { createAccessCode, grantPlatformAdmin, openSession } from '../../db/accounts.js'
import { createApiKey } from '../../db/api-keys.js'
import { newId } from '../../db/ids.js'
import { invite } from '../../db/invitations.js'
import { transition } from '../../db/job-transition.js'
import { members, teams } from '../../db/tables/accounts.js'
import { teamSecrets, webhooks } from '../../db/tables/teams.js'
import type { KeyTier } from '../../domain/api-key.js'
import {
  email,
  type Kind,
  keysOfTheTeam,
  kinds,
  platform,
  questions,
  type Scene,
  strangers
} from '../support/access-questions.js'
import { type Headers, startApi } from '../support/api.js'
import { addJob, addPerson, forceStatus, type Person } from '../support/rows.js'

const api = await startApi('access_matrix')
const { db } = api.database
afterAll(() => api.close())

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
    memberId: cast.member.userId,
    job: () => addJob(db, head, { submission: { teamId } }),
    finishedJob: async () => {
      const id = await addJob(db, head, { submission: { teamId } })
      await db.transaction((tx) => transition(tx, id, 'cancelled'))
      return id
    },
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
