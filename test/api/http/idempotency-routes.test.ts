// Every write of the API, sent twice under one Idempotency-Key: the second response repeats the first. A route that does not use
// `writeOnce` fails here, unless it is on the list of those that ignore the key.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type Access, accessTable } from '../../../apps/api/http/access-table.js'
import { honoursKey, writesWithoutIdempotencyKey } from '../../../apps/api/http/idempotency.js'
import { invite } from '../../../db/teams/invitations.js'
import { createAccessScenes } from '../../support/api/access-scenes.js'
import { startApi } from '../../support/api/api.js'
import type { Kind, Scene } from '../../support/api/callers.js'
import { routeCases } from '../../support/api/route-cases.js'
import { forceStatus } from '../../support/jobs/rows.js'

const api = await startApi('idempotency_routes')
const { db } = api.database
afterAll(() => api.close())
const { cast, stage } = await createAccessScenes(db)

const writes = Object.entries(accessTable).filter(([line]) => !line.startsWith('GET '))
const keyed = writes.filter(([line, access]) => honoursKey(line, access)).map(([line]) => line)

/** Paths that succeed, for routes whose case in the access matrix is refused. */
const paths: Record<string, (scene: Scene) => Promise<string>> = {
  'POST /api/invitations/:token/accept': async ({ teamId, ownerId }) => {
    const given = { teamId, email: cast.outsider.email, role: 'member' as const, message: null, invitedBy: ownerId }
    return `/api/invitations/${(await db.transaction((tx) => invite(tx, given))).token}/accept`
  },
  'POST /api/admin/jobs/:id/settle': async (scene) => {
    const id = await scene.job()
    await forceStatus(db, id, { status: 'failed' })
    await db.execute(sql`update jobs set error_code = 'provider_outcome_unknown' where id = ${id}`)
    return `/api/admin/jobs/${id}/settle`
  }
}

function callerOf(line: string): Kind {
  if (line === 'POST /api/invitations/:token/accept') return 'outsider'
  const { allowed } = routeCases[line]!
  return (['owner', 'member', 'platform administrator'] as const).find((kind) => allowed.includes(kind))!
}

describe('every write', () => {
  test('honours the Idempotency-Key, has no authenticated caller, or is on the list of exceptions', () => {
    const others = writes.filter(([line]) => !keyed.includes(line))
    const unlisted = others.filter(
      ([line, { who }]: [string, Access]) => who !== 'public' && !writesWithoutIdempotencyKey.has(line)
    )
    expect(unlisted).toEqual([])
    expect([...writesWithoutIdempotencyKey].filter((line) => !accessTable[line])).toEqual([])
    expect(keyed.length).toBeGreaterThan(25)
  })

  test.each(keyed)('%s sent twice under one key has one effect and one response', async (line) => {
    const kind = callerOf(line)
    const { scene, headers } = await stage(kind)
    const routeCase = routeCases[line]!
    const path = (await (paths[line] ?? routeCase.path)?.(scene)) ?? line.split(' ')[1]!
    const body = await routeCase.body?.(scene)
    const asked = { ...headers, ...routeCase.headers, 'idempotency-key': `key of ${line}` }
    const ask = () => api.ask(line.split(' ')[0]!, path, body, asked)
    const first = await ask()
    // Only a successful write can be repeated.
    expect([first.status < 300, first.text]).toEqual([true, first.text])
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    const again = await ask()
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([first.status, 'true'])
    expect(again.headers['content-type']).toBe(first.headers['content-type'])
    const secret = ['key', 'secret'].find((name) => first.body?.[name] !== undefined)
    if (secret === undefined) expect(again.text).toBe(first.text)
    else expect(again.body).toMatchObject({ id: first.body.id, [secret]: null, message: expect.any(String) })
  })

  test.each([...writesWithoutIdempotencyKey])('%s ignores the key, valid or not', async (line) => {
    const { allowed, path, body, status } = routeCases[line]!
    const kind = (['owner', 'anonymous'] as const).find((one) => allowed.includes(one))!
    for (let times = 0; times < 2; times++) {
      const { scene, headers } = await stage(kind)
      const url = (await path?.(scene)) ?? line.split(' ')[1]!
      const key = { 'idempotency-key': times === 0 ? 'x'.repeat(300) : '' }
      const answer = await api.ask(line.split(' ')[0]!, url, await body?.(scene), { ...headers, ...key })
      expect([status].flat()).toContain(answer.status)
      expect(answer.headers['idempotency-replayed']).toBeUndefined()
    }
  })
})
