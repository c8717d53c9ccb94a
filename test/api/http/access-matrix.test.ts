// Every route asked by every kind of caller (test/support/api/access-questions.ts).

import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { accessTable } from '../../../apps/api/http/access-table.js'
import { questions } from '../../support/api/access-questions.js'
import { bearer, createAccessScenes } from '../../support/api/access-scenes.js'
import { startApi } from '../../support/api/api.js'
import { type Kind, kinds, platform, strangers } from '../../support/api/callers.js'
import { forceStatus } from '../../support/jobs/rows.js'

const api = await startApi('access_matrix')
const { db } = api.database
afterAll(() => api.close())

const { cast, addTeam, stage, makeKey } = await createAccessScenes(db)

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
        const body = await question.body?.(scene)
        if (kind === 'owner of a suspended team')
          await db.execute(
            sql`update teams set suspended_at = now(), suspended_reason = 'a test' where id = ${scene.teamId}`
          )
        const answer = await api.ask(method, path, body, { ...headers, ...question.headers })
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
      const theirs = await api.ask(method, path, await question.body?.(scene), headers)
      // An id of this team's, or the team itself, is replaced by one that nobody has.
      const nobodys = path.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, randomUUID())
      const body = await question.body?.(scene)
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
      const answer = await api.ask(route.split(' ')[0]!, asked, await question.body?.(scene), headers)
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
