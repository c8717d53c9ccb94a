// Every route called by every kind of caller (test/support/api/route-cases.ts).

import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { accessTable } from '../../../apps/api/http/access-table.js'
import { bearer, createAccessScenes } from '../../support/api/access-scenes.js'
import { startApi } from '../../support/api/api.js'
import { type Kind, kinds, platform, strangers } from '../../support/api/callers.js'
import { routeCases } from '../../support/api/route-cases.js'
import { forceStatus } from '../../support/jobs/rows.js'

const api = await startApi('access_matrix')
const { db } = api.database
afterAll(() => api.close())

const { cast, addTeam, stage, makeKey } = await createAccessScenes(db)

/** The status for a caller who is not allowed. */
function refusal(kind: Kind, allowed: Kind[]): number {
  if (kind === 'anonymous') return 401
  if (allowed === platform) return 404
  if (kind.includes('key')) {
    // Routes for people refuse keys before anything else.
    const forKeys = allowed.some((other) => other.includes('key'))
    if (!forKeys) return 403
    return kind === 'key of another team' ? 404 : 403
  }
  return strangers.includes(kind) ? 404 : 403
}

describe('every route', () => {
  test('is in the access table and has a case, and neither lists anything else', () => {
    expect(Object.keys(routeCases).sort()).toEqual(Object.keys(accessTable).sort())
    const missing = Object.keys(accessTable).filter((line) => {
      const [method, url] = line.split(' ') as ['GET', string]
      return !api.app.hasRoute({ method, url })
    })
    expect(missing).toEqual([])
  })

  test.each(Object.entries(routeCases))(
    '%s serves the callers who are allowed, and refuses all others with the same status',
    async (route, routeCase) => {
      const method = route.split(' ')[0]!
      const wrong: unknown[] = []
      for (const kind of kinds) {
        const { scene, headers } = await stage(kind)
        const path = (await routeCase.path?.(scene)) ?? route.split(' ')[1]!
        const body = await routeCase.body?.(scene)
        if (kind === 'owner of a suspended team')
          await db.execute(
            sql`update teams set suspended_at = now(), suspended_reason = 'a test' where id = ${scene.teamId}`
          )
        const answer = await api.ask(method, path, body, { ...headers, ...routeCase.headers })
        const allowed = routeCase.allowed.includes(kind)
        const statuses = allowed ? [routeCase.status].flat() : [refusal(kind, routeCase.allowed)]
        const suspension = !allowed && kind === 'owner of a suspended team' && routeCase.allowed !== platform
        const fits = statuses.includes(answer.status) && (!suspension || answer.body.code === 'TEAM_SUSPENDED')
        if (!fits) wrong.push({ kind, expected: statuses, got: answer.status, text: answer.text.slice(0, 200) })
        // Otherwise callers would reach the maximum number of teams.
        await db.execute(sql`delete from members`)
      }
      expect(wrong).toEqual([])
    }
  )
})

describe('an id of another team and an id that does not exist', () => {
  const ids = Object.entries(routeCases).filter(
    ([route, { path, allowed }]) => path && /:(id|userId)\b/.test(route) && allowed !== platform
  )

  test.each(ids)('give an outsider the same 404: %s', async (route, routeCase) => {
    const method = route.split(' ')[0]!
    const { scene, headers } = await stage('outsider')
    const path = await routeCase.path!(scene)
    const theirs = await api.ask(method, path, await routeCase.body?.(scene), headers)
    // Replaces the id of the resource or of the team with one that does not exist.
    const unknown = path.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, randomUUID())
    const body = await routeCase.body?.(scene)
    const none = await api.ask(method, unknown, body, headers)
    expect([theirs.status, theirs.text]).toEqual([none.status, none.text])
    expect(theirs.status).toBe(404)
  })

  test.each(ids)('a malformed id returns 400 or 404: %s', async (route, routeCase) => {
    const { scene, headers } = await stage('owner')
    const path = route.split(' ')[1]!
    for (const id of ['x', '0', '%00', `urn:uuid:${randomUUID()}`, "';--", '\u{1f511}']) {
      const asked = path.replace(/:(id|userId)\b/, encodeURIComponent(id)).replace(/%2500/, '%00')
      const answer = await api.ask(route.split(' ')[0]!, asked, await routeCase.body?.(scene), headers)
      expect([id, [400, 404].includes(answer.status)]).toEqual([id, true])
    }
  })
})

test('a key is refused as soon as its creator leaves the team, or it is revoked or expires', async () => {
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

test('a finished job cannot be cancelled by its owner', async () => {
  const { scene, headers } = await stage('owner')
  const id = await scene.job()
  await forceStatus(db, id, { status: 'completed' })
  expect((await api.ask('POST', `/api/jobs/${id}/cancel`, undefined, headers)).status).toBe(409)
})
