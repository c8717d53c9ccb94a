// Saved scripts: saved, read, changed, published, deleted, and run.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi, type TestUser } from '../../support/api/api.js'
import { asymmetricQiskit, bellQasm3, submission } from '../../support/jobs/builders.js'
import { forceStatus } from '../../support/jobs/rows.js'
import { metadataOf, sha256 } from '../../support/jobs/script-rows.js'

const api = await startApi('scripts')
const { db } = api.database
afterAll(() => api.close())

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const workflow = `from marqov import task, workflow


@task(retries=2, timeout=30)
def double(x, *rest, scale=1):
    return 2 * x * scale


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

const upload = async (user: TestUser, changes: Record<string, unknown> = {}) =>
  user.post('/api/scripts/upload', { name: 'A Bell pair', script_content: bellQasm3(), ...changes })

async function uploaded(user: TestUser, changes: Record<string, unknown> = {}): Promise<string> {
  const answer = await upload(user, changes)
  if (answer.status !== 200) throw new Error(`upload answered ${answer.status}: ${answer.text}`)
  return answer.body.script_id
}

const patch = (user: TestUser, id: string, body: unknown) => user.ask('PATCH', `/api/scripts/${id}`, body)
const remove = (user: TestUser, id: string) => user.ask('DELETE', `/api/scripts/${id}`)
const publish = (user: TestUser, id: string) => user.post(`/api/scripts/${id}/publish`)

describe('saving the code of a job', () => {
  const fromJob = (user: TestUser, job_id: string, changes: Record<string, unknown> = {}) =>
    user.post('/api/scripts', { job_id, name: 'From a job', description: 'what ran', slug: 'from-a-job', ...changes })

  async function finished(
    user: TestUser,
    changes: Record<string, unknown> = {},
    status: 'completed' | 'failed' = 'completed'
  ) {
    const id = await user.submit(submission(changes))
    await forceStatus(db, id, { status })
    return id
  }

  test('stores it with the framework that it ran under', async () => {
    const job = await finished(ada, { inline_code: asymmetricQiskit(), framework: undefined })
    const answer = await fromJob(ada, job)
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ script_id: uuid })
    expect((await ada.get(`/api/scripts/${answer.body.script_id}`)).body).toMatchObject({
      slug: 'from-a-job',
      framework: 'qiskit',
      script_content: asymmetricQiskit(),
      team_id: ada.teamId,
      version: 1
    })
    const again = await fromJob(ada, job)
    expect([again.status, again.body.error]).toEqual([409, expect.stringMatching(/^slug: "from-a-job" is taken/)])
    expect((await fromJob(ada, job, { slug: 'another' })).status).toBe(201)
  })

  test('gives each slug to one script, however many are saved at once', async () => {
    const job = await finished(ada)
    const answers = await Promise.all(Array.from({ length: 5 }, () => fromJob(ada, job, { slug: 'in-a-race' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  })

  test("does not use a template's slug, and can reuse the slug of a deleted script", async () => {
    const job = await finished(ada)
    await db.execute(sql`insert into scripts (id, slug, name, description, script_type, category, framework, content,
      source_sha256, metadata, is_public, is_hardcoded) values (gen_random_uuid(), 'a-template', 'n', 'd', 'script', 'c',
      'openqasm', 'x', 'x', ${JSON.stringify(metadataOf('x'))}::jsonb, true, true)`)
    expect((await fromJob(ada, job, { slug: 'a-template' })).status).toBe(409)
    expect((await upload(ada, { name: 'A template' })).body.slug).toBe('a-template-2')
    const first = (await fromJob(ada, job, { slug: 'reused' })).body.script_id
    expect((await remove(ada, first)).status).toBe(200)
    expect((await fromJob(ada, job, { slug: 'reused' })).status).toBe(201)
  })

  test('returns 404 to outsiders, 403 to other members, and 400 for a job that did not complete or has no code', async () => {
    const job = await finished(ada)
    const answers = [
      await fromJob(bob, job),
      await fromJob(mate, job),
      await fromJob(ada, await ada.submit(submission())),
      await fromJob(ada, await finished(ada, {}, 'failed')),
      await fromJob(
        ada,
        await finished(ada, {
          inline_code: undefined,
          framework: undefined,
          circuit: { format: 'qasm3', payload: bellQasm3() }
        })
      ),
      await fromJob(ada, job, { slug: 'Not A Slug' })
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 403, 400, 400, 400, 400])
    expect(answers.map(({ body }) => body.error)).toEqual([
      'job_id: no such job',
      expect.stringMatching(/only the submitter/),
      expect.stringMatching(/must be a completed job \(it is pending\)/),
      expect.stringMatching(/must be a completed job \(it is failed\)/),
      expect.stringMatching(/no inline code: it ran a circuit/),
      expect.stringMatching(/^slug: must match/)
    ])
  })
})

describe('changing a script', () => {
  test('creates a version for another source, and none for another name', async () => {
    const id = await uploaded(ada)
    const named = await patch(ada, id, { name: 'renamed', description: 'd' })
    expect(named.body).toMatchObject({ name: 'renamed', description: 'd', slug: expect.any(String), version: 1 })
    const changed = await patch(ada, id, { script_content: workflow })
    expect(changed.body).toMatchObject({ version: 2, framework: 'marqov', source_sha256: sha256(workflow) })
    expect(changed.body.metadata.entry_point).toBe('doubled')
    expect((await patch(ada, id, { script_content: workflow })).body.version).toBe(2)
    expect((await patch(ada, id, { requirements: 'numpy' })).body).toMatchObject({ version: 3, requirements: 'numpy' })
    expect((await patch(ada, id, { requirements: '' })).body).toMatchObject({ version: 4, requirements: null })
    const kept =
      await db.execute(sql`select version, framework, requirements, source_sha256, created_by from script_versions
      where script_id = ${id} order by version`)
    expect(kept.map(({ version, framework, requirements }) => [version, framework, requirements])).toEqual([
      [1, 'openqasm', null],
      [2, 'marqov', null],
      [3, 'marqov', 'numpy'],
      [4, 'marqov', null]
    ])
  })

  test('requires a field, and refuses by name fields that cannot be set', async () => {
    const id = await uploaded(ada)
    const errors = []
    for (const body of [
      {},
      { slug: 'x' },
      { script_content: 'def' },
      { requirements: '-e .' },
      { framework: 'qiskit' }
    ])
      errors.push((await patch(ada, id, body)).body.error)
    expect(errors).toEqual([
      'body: must name at least one field (got an object)',
      'slug: is not a field of this request',
      expect.stringMatching(/^script_content, line 1/),
      expect.stringMatching(/^requirements, line 1: the option -e/),
      expect.stringMatching(/^framework: this script is OpenQASM/)
    ])
    expect((await ada.get(`/api/scripts/${id}`)).body.version).toBe(1)
  })

  test('ten times at once creates ten versions, and none is lost', async () => {
    const id = await uploaded(ada)
    const sources = Array.from({ length: 10 }, (_, n) => `${bellQasm3()}// ${n}\n`)
    const statuses: number[] = []
    for (const pair of [0, 5])
      statuses.push(
        ...(
          await Promise.all(sources.slice(pair, pair + 5).map((script_content) => patch(ada, id, { script_content })))
        ).map(({ status }) => status)
      )
    expect(statuses).toEqual(Array(10).fill(200))
    const rows = await db.execute<{ version: number; content: string }>(
      sql`select version, content from script_versions where script_id = ${id} order by version`
    )
    expect(rows.map(({ version }) => version)).toEqual(Array.from({ length: 11 }, (_, n) => n + 1))
    expect(
      rows
        .slice(1)
        .map(({ content }) => content)
        .sort()
    ).toEqual(sources.sort())
    expect((await ada.get(`/api/scripts/${id}`)).body.script_content).toBe(rows.at(-1)!.content)
  })

  test('during its publication happens before it or is refused, and never changes a published script', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await uploaded(ada)
      const [changed, published] = await Promise.all([
        patch(ada, id, { script_content: `${bellQasm3()}// ${round}\n` }),
        publish(ada, id)
      ])
      expect(published.status).toBe(200)
      const now = (await ada.get(`/api/scripts/${id}`)).body
      expect(now.is_public).toBe(true)
      expect([changed.status, now.version]).toEqual(changed.status === 200 ? [200, 2] : [400, 1])
      if (changed.status === 200) expect(changed.body.is_public).toBe(false)
    }
  })
})

describe('access to scripts:', () => {
  test('other members of the team can read and run a script but not change it, and non-members see nothing', async () => {
    const id = await uploaded(ada)
    const steps = (user: TestUser) => [
      user.get(`/api/scripts/${id}`),
      user.post('/api/jobs/submit', { script_id: id, backend: 'local', params: { shots: 1 }, team_id: ada.teamId }),
      patch(user, id, { name: 'x' }),
      remove(user, id),
      publish(user, id)
    ]
    expect((await Promise.all(steps(mate))).map(({ status }) => status)).toEqual([200, 201, 403, 403, 403])
    expect((await Promise.all(steps(bob))).map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  })

  test('a published script can be read and run by every user, and changed by none', async () => {
    const id = await uploaded(ada)
    const published = await publish(ada, id)
    expect(published.body).toMatchObject({ is_public: true, published_at: expect.any(String) })
    const again = await publish(ada, id)
    expect([again.status, again.body.published_at]).toEqual([200, published.body.published_at])
    expect((await bob.get(`/api/scripts/${id}`)).body.script_content).toBe(bellQasm3())
    const job = await bob.submit({ script_id: id, backend: 'local', params: { shots: 1 } })
    for (const body of [
      (await ada.get(`/api/scripts/${id}`)).body,
      (await ada.get('/api/scripts')).body.scripts.find((one: { id: string }) => one.id === id)
    ])
      expect(body).toMatchObject({ executions_count: 0 })
    expect((await bob.get(`/api/scripts/${id}`)).body).toMatchObject({ executions_count: 1, executions: [{ id: job }] })
    const answers = [
      await patch(ada, id, { name: 'x' }),
      await remove(ada, id),
      await patch(bob, id, { name: 'x' }),
      await remove(bob, id),
      await publish(bob, id),
      await patch(mate, id, { name: 'x' })
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 403, 403, 403, 403])
  })

  test("the scripts of an owner who has left belong to the team's owner", async () => {
    const leaver = await api.signUp()
    await db.execute(sql`insert into members (team_id, user_id, role) values (${ada.teamId}, ${leaver.id}, 'member')`)
    const id = await uploaded(leaver, { team_id: ada.teamId })
    expect((await patch(ada, id, { name: 'x' })).status).toBe(403)
    expect((await leaver.post(`/api/teams/${ada.teamId}/leave`)).status).toBe(200)
    expect((await patch(leaver, id, { name: 'x' })).status).toBe(404)
    expect((await patch(mate, id, { name: 'x' })).status).toBe(403)
    const named = { team_id: ada.teamId, name: 'k', tier: 'qpu', kind: 'live' }
    const bearer = { authorization: `Bearer ${(await ada.post('/api/team/api-keys', named)).body.key}` }
    expect((await api.ask('PATCH', `/api/scripts/${id}`, { name: 'x' }, bearer)).status).toBe(403)
    expect((await patch(ada, id, { name: 'taken over' })).status).toBe(200)
    await leaver.ask('DELETE', '/api/profile', { password: 'correct horse battery' })
    expect((await patch(ada, id, { name: 'x' })).body).toMatchObject({ user_id: null, name: 'x' })
    expect((await remove(ada, id)).status).toBe(200)
  })

  test('a suspended team can read its scripts but not change them, and its published scripts stay available', async () => {
    const eve = await api.signUpWithTeam()
    const [id, shown] = [await uploaded(eve), await uploaded(eve)]
    await publish(eve, shown)
    await db.execute(sql`update teams set suspended_at = now(), suspended_reason = 'a test' where id = ${eve.teamId}`)
    const writes = [
      await upload(eve),
      await upload(eve, { team_id: eve.teamId }),
      await patch(eve, id, { name: 'x' }),
      await remove(eve, id),
      await publish(eve, id)
    ]
    expect(writes.map(({ status, body }) => [status, body.code])).toEqual(Array(5).fill([403, 'TEAM_SUSPENDED']))
    expect((await eve.get(`/api/scripts/${id}`)).status).toBe(200)
    expect((await bob.get(`/api/scripts/${shown}`)).status).toBe(200)
  })

  test('the scripts of a deleted team are gone, and the jobs that ran them are still shown', async () => {
    const eve = await api.signUp()
    const { id: teamId } = (await eve.post('/api/teams', { name: 'to go' })).body
    const [ran, unused] = [await uploaded(eve, { team_id: teamId }), await uploaded(eve, { team_id: teamId })]
    await publish(eve, ran)
    const job = await bob.submit({ script_id: ran, backend: 'local', params: { shots: 1 } })
    expect((await eve.ask('DELETE', `/api/teams/${teamId}`)).status).toBe(200)
    expect((await bob.get(`/api/scripts/${ran}`)).status).toBe(404)
    expect((await bob.get(`/api/jobs/${job}`)).body.script_id).toBe(ran)
    expect((await bob.get(`/api/jobs/${job}/source`)).text).toBe(bellQasm3())
    expect([...(await db.execute(sql`select 1 from scripts where id = ${unused}`))]).toEqual([])
  })
})

describe('deleting a script', () => {
  test('twice at once under one Idempotency-Key gives the same response twice', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await uploaded(ada)
      const send = () => ada.ask('DELETE', `/api/scripts/${id}`, undefined, { 'idempotency-key': `delete ${id}` })
      const answers = await Promise.all([send(), send(), send()])
      expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(3).fill([200, '{"success":true}']))
    }
  })

  test('hides it from everything but the jobs that ran it, which can be run again', async () => {
    const id = await uploaded(ada)
    const job = await ada.submit({ script_id: id, backend: 'local', params: { shots: 3 } })
    expect((await remove(ada, id)).body).toEqual({ success: true })
    const body = { script_id: id, backend: 'local', params: { shots: 1 } }
    const answers = [
      await ada.get(`/api/scripts/${id}`),
      await patch(ada, id, { name: 'x' }),
      await remove(ada, id),
      await ada.post('/api/jobs/submit', body)
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    const again = await ada.post(`/api/jobs/${job}/rerun`)
    expect(again.status).toBe(201)
    expect((await ada.get(`/api/jobs/${again.body.job_id}`)).body).toMatchObject({
      script_id: id,
      params: { shots: 3 }
    })
  })
})
