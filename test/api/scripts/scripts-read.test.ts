// What a reader of scripts gets: lists, versions, and what may be done with each; and two people who save at once.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi, type TestUser } from '../../support/api/api.js'
import { bellQasm3 } from '../../support/jobs/builders.js'

const api = await startApi('scripts_read')
const { db } = api.database
afterAll(() => api.close())

const workflow = `from marqov import task, workflow


@task
def double(x):
    return 2 * x


@workflow
def doubled(x=3):
    return double(x)
`

type Member = TestUser & { teamId: string }
let ada: Member
let bob: Member
/** Another member of Ada's team. */
let mate: TestUser
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  bob = await api.signUpWithTeam()
  mate = await api.signUp()
  await db.execute(sql`insert into members (team_id, user_id, role) values (${ada.teamId}, ${mate.id}, 'admin')`)
})

async function uploaded(user: TestUser, changes: Record<string, unknown> = {}): Promise<string> {
  const answer = await user.post('/api/scripts/upload', {
    name: 'A Bell pair',
    script_content: bellQasm3(),
    ...changes
  })
  if (answer.status !== 200) throw new Error(`upload answered ${answer.status}: ${answer.text}`)
  return answer.body.script_id
}

const patch = (user: TestUser, id: string, body: unknown) => user.ask('PATCH', `/api/scripts/${id}`, body)
const remove = (user: TestUser, id: string) => user.ask('DELETE', `/api/scripts/${id}`)
const publish = (user: TestUser, id: string) => user.post(`/api/scripts/${id}/publish`)

describe('the list of scripts', () => {
  const names = async (user: TestUser, query: string): Promise<string[]> => {
    const answer = await user.get(`/api/scripts?${query}`)
    expect(answer.status).toBe(200)
    return answer.body.scripts.map(({ name }: { name: string }) => name).sort()
  }

  test('is narrowed by kind, team and text, and its items name framework, team and version', async () => {
    const eve = await api.signUpWithTeam()
    const friend = await api.signUp()
    await db.execute(sql`insert into members (team_id, user_id, role) values (${eve.teamId}, ${friend.id}, 'member')`)
    const own = await uploaded(eve, { name: 'alpha 100%_quick', description: 'Of the FIRST kind' })
    const shown = await uploaded(eve, { name: 'alpha published' })
    await publish(eve, shown)
    await uploaded(friend, { name: 'alpha of a friend', team_id: eve.teamId })
    const team = `team_id=${eve.teamId}`
    expect(await names(eve, `kind=own&${team}`)).toEqual(['alpha 100%_quick', 'alpha published'])
    expect(await names(friend, `kind=team&${team}`)).toEqual([
      'alpha 100%_quick',
      'alpha of a friend',
      'alpha published'
    ])
    expect(await names(bob, 'kind=public&q=ALPHA')).toEqual(['alpha published'])
    expect(await names(bob, 'kind=team&q=alpha')).toEqual([])
    expect(await names(eve, 'q=first%20kind')).toEqual(['alpha 100%_quick'])
    expect(await names(eve, 'q=100%25_')).toEqual(['alpha 100%_quick'])
    expect(await names(eve, `q=alpha-100-quick`)).toEqual(['alpha 100%_quick'])
    expect(await names(eve, `q=${own}`)).toEqual(['alpha 100%_quick'])
    const templates = await names(eve, 'kind=template&limit=100')
    expect(templates).toContain('GHZ state')
    expect(templates).not.toContain('alpha published')
    expect((await eve.get('/api/scripts?kind=template&q=ghz')).body.scripts[0]).toMatchObject({
      framework: 'qiskit',
      team_id: null,
      version: 1
    })
    expect((await eve.get(`/api/scripts?kind=own&q=quick`)).body.scripts[0]).toMatchObject({
      framework: 'openqasm',
      team_id: eve.teamId
    })
    const refused = [
      await bob.get(`/api/scripts?${team}`),
      await bob.get('/api/scripts?kind=mine'),
      await bob.get('/api/scripts?q=')
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 400, 400])
  })
})

test('texts and numbers of any kind in an address are answered, and none is a fault of the service', async () => {
  const id = await uploaded(ada)
  const paths = [
    '?q=%00',
    '?q=%ED%A0%80',
    `?q=${'%F0%9F%92%A9'.repeat(200)}`,
    `?q=${'x'.repeat(201)}`,
    '?q=%25_%5C',
    '?kind=own&kind=team',
    '?team_id=x',
    `/${id}/versions?offset=-1`,
    `/${id}/versions?offset=1001`,
    `/${id}/versions/1.5`,
    `/${id}/versions/99999999999999999999`,
    `/${id}/versions/latest`
  ]
  for (const path of paths) {
    const { status } = await ada.get(`/api/scripts${path}`)
    expect([path, status === 200 || status === 400]).toEqual([path, true])
  }
})

describe('the versions of a script', () => {
  const versions = async (user: TestUser, id: string): Promise<number[]> =>
    (await user.get(`/api/scripts/${id}/versions`)).body.versions.map(({ version }: { version: number }) => version)

  test('are listed and read by members; everyone else sees the one that is published', async () => {
    const id = await uploaded(ada)
    await patch(ada, id, { script_content: workflow })
    const first = (await mate.get(`/api/scripts/${id}/versions/1`)).body
    expect(first).toMatchObject({ version: 1, framework: 'openqasm', script_content: bellQasm3(), created_by: ada.id })
    expect(first.source_bytes).toBe(Buffer.byteLength(bellQasm3()))
    expect((await ada.get(`/api/scripts/${id}/versions?limit=1&offset=1`)).body).toMatchObject({
      versions: [{ version: 1 }],
      total: 2
    })
    expect((await bob.get(`/api/scripts/${id}/versions`)).status).toBe(404)
    expect((await bob.get(`/api/scripts/${id}/versions/2`)).status).toBe(404)
    await publish(ada, id)
    expect([await versions(ada, id), await versions(mate, id), await versions(bob, id)]).toEqual([[2, 1], [2, 1], [2]])
    const seen = await Promise.all([1, 2, 3].map((n) => bob.get(`/api/scripts/${id}/versions/${n}`)))
    expect(seen.map(({ status }) => status)).toEqual([404, 200, 404])
    expect((await ada.get(`/api/scripts/${id}/versions/0`)).status).toBe(400)
  })

  test('are named by the jobs that ran the script', async () => {
    const id = await uploaded(ada)
    await ada.submit({ script_id: id, backend: 'local', params: { shots: 1 } })
    await patch(ada, id, { script_content: workflow })
    await ada.submit({ script_id: id, backend: 'local', params: { shots: 1 } })
    const { executions } = (await ada.get(`/api/scripts/${id}`)).body
    expect(executions.map(({ script_version }: { script_version: number }) => script_version)).toEqual([2, 1])
  })
})

describe('two people who save at once:', () => {
  test('a change of what has been changed since it was read is refused, and nothing is lost', async () => {
    const id = await uploaded(ada)
    const { updated_at: unchanged_since } = (await ada.get(`/api/scripts/${id}`)).body
    const saves = await Promise.all(
      ['one', 'two'].map((name) => patch(ada, id, { description: name, unchanged_since }))
    )
    expect(saves.map(({ status }) => status).sort()).toEqual([200, 409])
    const [refused, saved] = [saves.find(({ status }) => status === 409)!, saves.find(({ status }) => status === 200)!]
    expect(refused.body.error).toMatch(/^unchanged_since: this script has been changed since you read it/)
    expect((await ada.get(`/api/scripts/${id}`)).body.description).toBe(saved.body.description)
    const again = { description: 'three', unchanged_since: saved.body.updated_at }
    expect((await patch(ada, id, again)).body.description).toBe('three')
    expect((await patch(ada, id, { name: 'x', unchanged_since: 'yesterday' })).status).toBe(400)
  })
})

describe('what may be done with a script', () => {
  test('is in its record, in the words of the refusals', async () => {
    const eve = await api.signUpWithTeam()
    await db.execute(sql`insert into members (team_id, user_id, role) values (${eve.teamId}, ${mate.id}, 'admin')`)
    const [draft, shown] = [await uploaded(eve), await uploaded(eve)]
    await publish(eve, shown)
    const acts = { update: patch, publish, delete: remove } as const
    const walk = async (user: TestUser, id: string) => {
      const { can } = (await user.get(`/api/scripts/${id}`)).body
      for (const [action, verdict] of Object.entries(can)) {
        if (verdict === true) continue
        const refused = await acts[action as keyof typeof acts](user, id, { name: 'x' })
        expect([action, refused.status >= 400, refused.body.error]).toEqual([action, true, verdict])
      }
      return Object.values(can).map((verdict) => verdict === true)
    }
    expect(await walk(eve, draft)).toEqual([true, true, true])
    expect(await walk(eve, shown)).toEqual([false, true, false])
    expect(await walk(mate, draft)).toEqual([false, false, false])
    expect(await walk(bob, shown)).toEqual([false, false, false])
    const key = { team_id: eve.teamId, name: 'k', tier: 'read', kind: 'live' }
    const bearer = { authorization: `Bearer ${(await eve.post('/api/team/api-keys', key)).body.key}` }
    const read = (await api.ask('GET', `/api/scripts/${draft}`, undefined, bearer)).body.can
    expect(read.update).toBe(
      (await api.ask('PATCH', `/api/scripts/${draft}`, { name: 'x' }, bearer)).body.error.message
    )
    await db.execute(sql`update teams set suspended_at = now(), suspended_reason = 'a test' where id = ${eve.teamId}`)
    expect(await walk(eve, draft)).toEqual([false, false, false])
    expect(await walk(eve, shown)).toEqual([false, false, false])
  })

  test('is true only where the service then does it', async () => {
    const id = await uploaded(ada)
    const can = async () => (await ada.get(`/api/scripts/${id}`)).body.can
    expect(await can()).toEqual({ update: true, publish: true, delete: true })
    expect((await patch(ada, id, { name: 'x' })).body.can).toEqual({ update: true, publish: true, delete: true })
    expect((await publish(ada, id)).body.can).toEqual(await can())
    const other = await uploaded(ada)
    expect((await remove(ada, other)).status).toBe(200)
  })
})

test('the parameters of a template are in its record, so that a form can be made of them', async () => {
  const [{ id }] = (await bob.get('/api/scripts?kind=template&q=ghz-state')).body.scripts
  const { metadata } = (await bob.get(`/api/scripts/${id}`)).body
  expect(metadata.parameters[0]).toEqual({
    name: 'num_qubits',
    type: 'integer',
    default: 3,
    minimum: 2,
    maximum: 100,
    description: 'Number of qubits'
  })
})
