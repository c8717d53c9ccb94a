// Saved scripts: the list, the execution options, the analysis and the submission.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { changeBackend } from '../../../db/backends/backends.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'
import { addScript, metadataOf, sha256 } from '../../support/jobs/script-rows.js'

const api = await startApi('scripts_run')
const { db } = api.database
afterAll(() => api.close())

type Member = TestUser & { teamId: string }
let ada: Member
let bob: Member
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  bob = await api.signUpWithTeam()
  await changeBackend(db, 'aer-statevector', {
    pricing: { taskFee: 300_000n, perShot: 10_000n, minimumCost: 300_000n }
  })
})

const scriptOf = (user: Member, given: Parameters<typeof addScript>[1] | object = {}, slug?: string) =>
  addScript(db, { teamId: user.teamId, userId: user.id, ...given }, slug)

const run = (user: TestUser, changes: Record<string, unknown>) =>
  user.post('/api/jobs/submit', { backend: 'local', params: { shots: 10 }, ...changes })

const template = async (slug: string, content = bellQasm3()): Promise<string> => {
  const [row] = await db.execute<{
    id: string
  }>(sql`insert into scripts (id, slug, name, description, script_type, category,
    framework, content, source_sha256, metadata, is_public, is_hardcoded) values (gen_random_uuid(), ${slug}, 'n', 'd', 'script',
    'c', 'openqasm', ${content}, ${sha256(content)}, ${JSON.stringify(metadataOf(content))}::jsonb, true, true) returning id`)
  return row!.id
}

describe('the list', () => {
  type Item = { id: string; name: string; executions_count: number }
  const list = async (user: TestUser, query = ''): Promise<Item[]> =>
    (await user.get(`/api/scripts?limit=100${query}`)).body.scripts
  const ids = async (user: TestUser, query = '') => (await list(user, query)).map(({ id }) => id)

  test("contains scripts of the caller's teams, published ones and templates, newest first, without sources", async () => {
    const [mine, theirs, shown, gone] = [
      await scriptOf(ada, { name: 'mine' }),
      await scriptOf(bob),
      await scriptOf(bob, { name: 'shown' }),
      await scriptOf(ada)
    ]
    await db.execute(sql`update scripts set is_public = true where id = ${shown}`)
    await db.execute(sql`update scripts set is_active = false where id = ${gone}`)
    const seen = await ids(ada)
    expect(seen).toEqual(expect.arrayContaining([mine, shown]))
    expect(seen).not.toEqual(expect.arrayContaining([theirs]))
    expect(seen).not.toEqual(expect.arrayContaining([gone]))
    expect(seen.indexOf(shown)).toBeLessThan(seen.indexOf(mine))
    expect(await ids(ada, '&user_only=true')).toEqual([mine])
    const item = (await list(ada)).find(({ id }) => id === mine)
    expect(item).toEqual({
      id: mine,
      slug: 'mine',
      framework: 'openqasm',
      team_id: ada.teamId,
      version: 1,
      name: 'mine',
      description: '',
      script_type: 'script',
      category: 'custom',
      is_public: false,
      is_hardcoded: false,
      created_at: expect.stringMatching(/Z$/),
      executions_count: 0
    })
  })

  test('is filtered by type and read in pages, with the total', async () => {
    const eve = await api.signUpWithTeam()
    const made: string[] = []
    for (const scriptType of ['task', 'workflow', 'task'] as const) made.push(await scriptOf(eve, { scriptType }))
    expect(await ids(eve, '&user_only=true&script_type=task')).toEqual([made[2], made[0]])
    const page = (await eve.get('/api/scripts?user_only=true&limit=1&offset=1')).body
    expect(page).toMatchObject({ scripts: [{ id: made[1] }], total: 3, limit: 1, offset: 1 })
    expect((await eve.get('/api/scripts?user_only=true')).body).toMatchObject({ limit: 50, offset: 0 })
  })

  test.each(['limit=101', 'limit=0', 'offset=-1', 'offset=10001', 'script_type=circuit', 'user_only=maybe'])(
    'with ?%s is refused',
    async (query) => {
      expect((await ada.get(`/api/scripts?${query}`)).status).toBe(400)
    }
  )

  test("counts and shows only the jobs of the caller's teams", async () => {
    const id = await scriptOf(ada)
    await db.execute(sql`update scripts set is_public = true where id = ${id}`)
    const jobs: string[] = []
    for (let n = 0; n < 12; n++) jobs.push((await run(ada, { script_id: id })).body.job_id)
    await run(bob, { script_id: id })
    const seen = (await ada.get(`/api/scripts/${id}`)).body
    expect(seen.executions_count).toBe(12)
    expect(seen.executions.map((job: { id: string }) => job.id)).toEqual(jobs.slice(2).reverse())
    expect(seen.executions[0]).toEqual({
      id: jobs[11],
      status: 'pending',
      backend: 'local',
      script_version: 1,
      created_at: expect.any(String),
      completed_at: null,
      estimated_cost_usd: 0
    })
    expect((await list(bob)).find((one) => one.id === id)!.executions_count).toBe(1)
    const eve = await api.signUp()
    expect((await eve.get(`/api/scripts/${id}`)).body).toMatchObject({ executions_count: 0, executions: [] })
    expect((await ada.get(`/api/jobs?script_id=${id}`)).body).toMatchObject({ total: 12 })
    expect((await bob.get(`/api/jobs?script_id=${id}`)).body).toMatchObject({ total: 1 })
    expect((await bob.get(`/api/jobs?script_id=${crypto.randomUUID()}`)).body).toMatchObject({ jobs: [], total: 0 })
  })

  test('contains only published scripts and templates for a caller without a team', async () => {
    const eve = await api.signUp()
    const { scripts } = (await eve.get('/api/scripts?limit=100')).body
    expect(scripts.filter((one: { is_public: boolean }) => !one.is_public)).toEqual([])
  })
})

describe('a submission of a script', () => {
  test.each(['direct', 'temporal'])(
    'in mode %s runs the present version, and the record states which',
    async (mode) => {
      const id = await scriptOf(ada)
      const changed = `${bellQasm3()}// changed\n`
      expect((await ada.ask('PATCH', `/api/scripts/${id}`, { script_content: changed })).body.version).toBe(2)
      const answer = await run(ada, { script_id: id, execution_mode: mode })
      expect(answer.status).toBe(201)
      const job = (await ada.get(`/api/jobs/${answer.body.job_id}`)).body
      expect(job).toMatchObject({
        script_id: id,
        framework: 'openqasm',
        execution_mode: mode,
        source: { kind: 'script', script_id: id, script_version: 2, sha256: sha256(changed) }
      })
      expect((await ada.get(`/api/jobs/${job.id}/source`)).text).toBe(changed)
    }
  )

  test('that is run again uses the version that ran', async () => {
    const id = await scriptOf(ada)
    const job = (await run(ada, { script_id: id })).body.job_id
    await ada.ask('PATCH', `/api/scripts/${id}`, { script_content: `${bellQasm3()}// changed\n` })
    const again = (await ada.post(`/api/jobs/${job}/rerun`)).body.job_id
    expect((await ada.get(`/api/jobs/${again}`)).body.source).toMatchObject({ script_version: 1, script_id: id })
    expect((await ada.get(`/api/jobs/${again}/source`)).text).toBe(bellQasm3())
  })

  test("finds a slug among the team's scripts first, and then among the templates", async () => {
    const templateId = await template('looked-up')
    const scriptId = async (user: TestUser, changes: object = {}) => {
      const answer = await run(user, { script_slug: 'looked-up', ...changes })
      return answer.status === 201 ? (await user.get(`/api/jobs/${answer.body.job_id}`)).body.script_id : answer.status
    }
    expect(await scriptId(ada)).toBe(templateId)
    // Created before the template of that name.
    const [own] = await db.execute<{
      id: string
    }>(sql`insert into scripts (id, team_id, user_id, slug, name, description,
      script_type, category, framework, content, source_sha256, metadata) select gen_random_uuid(), ${ada.teamId}, ${ada.id}, slug,
      name, description, script_type, category, framework, content, source_sha256, metadata from scripts where id = ${templateId}
      returning id`)
    expect(await scriptId(ada)).toBe(own!.id)
    expect(await scriptId(bob)).toBe(templateId)
    const { id: other } = (await ada.post('/api/teams', { name: 'another' })).body
    expect(await scriptId(ada, { team_id: other })).toBe(templateId)
  })

  test('finds published scripts of other teams by id only, and returns 404 for unknown ones', async () => {
    const id = await scriptOf(bob, {}, 'of-bob')
    await db.execute(sql`update scripts set is_public = true where id = ${id}`)
    expect((await run(ada, { script_id: id })).status).toBe(201)
    const hidden = await scriptOf(bob)
    const answers = [
      await run(ada, { script_slug: 'of-bob' }),
      await run(ada, { script_id: hidden }),
      await run(ada, { script_id: crypto.randomUUID() })
    ]
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [404, expect.stringMatching(/^script_slug: neither the team nor the platform/)],
      [404, 'script_id: no such script'],
      [404, 'script_id: no such script']
    ])
  })

  test('is refused when its circuit is wider than the backend, naming one that fits', async () => {
    const metadata = { ...metadataOf('wide'), framework: 'qiskit', qubits: 26 } as const
    const id = await scriptOf(ada, { framework: 'qiskit', content: 'wide', metadata })
    const answer = await run(ada, { script_id: id })
    expect([answer.status, answer.body.error]).toEqual([
      400,
      'backend: the circuit has 26 qubits, local takes at most 25; aer-statevector takes 28'
    ])
    expect((await run(ada, { script_id: id, backend: 'aer-mps' })).status).toBe(201)
  })

  test('is refused when it names another framework', async () => {
    const id = await scriptOf(ada)
    expect((await run(ada, { script_id: id, framework: 'openqasm' })).status).toBe(201)
    const answer = await run(ada, { script_id: id, framework: 'qiskit' })
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.stringMatching(/^framework: the script is openqasm/)
    ])
  })

  test('counts against the budget like any job', async () => {
    const id = await scriptOf(ada)
    const answer = await run(ada, { script_id: id, backend: 'aer-statevector', params: { shots: 100_000 } })
    expect(answer.status).toBe(402)
  })
})

describe('execution options', () => {
  const options = async (user: TestUser, id: string, query = '') =>
    (await user.get(`/api/scripts/${id}/execution-options?${query}`)).body

  test('show for every backend whether it would accept a job, the reason if not, and the cost', async () => {
    const id = await scriptOf(ada)
    const { destinations, ...rest } = await options(ada, id, 'shots=10&circuit_count=2')
    expect(rest).toEqual({
      script_id: id,
      source_sha256: sha256(bellQasm3()),
      team: { id: ada.teamId, name: expect.any(String), role: 'owner', suspended: false }
    })
    const of = (slug: string) => destinations.find(({ backend }: { backend: string }) => backend === slug)
    expect(of('local')).toEqual({
      backend: 'local',
      name: expect.any(String),
      available: true,
      reason: null,
      estimated_cost_usd: 0,
      requires_analysis: false
    })
    expect(of('aer-statevector')).toMatchObject({ available: true, estimated_cost_usd: 0.8 })
    expect(of('ibm-fez')).toMatchObject({ available: false, reason: expect.stringContaining('ibm-fez is offline') })
    expect((await ada.get('/api/backends')).body.backends.map(({ slug }: { slug: string }) => slug)).toEqual(
      destinations.map(({ backend }: { backend: string }) => backend)
    )
  })

  test('show a backend as unavailable for a circuit that is too wide, and for a suspended team', async () => {
    const wide = await scriptOf(ada, { metadata: { ...metadataOf(bellQasm3()), qubits: 26 } })
    const local = async (user: TestUser, id: string) =>
      (await options(user, id)).destinations.find(({ backend }: { backend: string }) => backend === 'local')
    expect(await local(ada, wide)).toMatchObject({ available: false, reason: expect.stringContaining('26 qubits') })
    const eve = await api.signUpWithTeam()
    const id = await scriptOf(eve)
    await db.execute(sql`update teams set suspended_at = now() where id = ${eve.teamId}`)
    expect(await local(eve, id)).toMatchObject({ available: false, reason: expect.stringContaining('suspended') })
  })

  test('work for a caller without a team', async () => {
    const eve = await api.signUp()
    const id = await scriptOf(bob)
    await db.execute(sql`update scripts set is_public = true where id = ${id}`)
    expect((await options(eve, id)).team).toBeNull()
  })
})

describe('an analysis', () => {
  const analyse = (user: TestUser, id: string, changes: Record<string, unknown> = {}) => {
    const content = (changes.content as string) ?? bellQasm3()
    return user.post(`/api/scripts/${id}/analyse`, {
      content,
      content_hash: sha256(content),
      backend: 'local',
      shots: 10,
      ...changes
    })
  }

  test('without findings can be named by a submission', async () => {
    const id = await scriptOf(ada)
    const { status, body } = await analyse(ada, id)
    expect(status).toBe(200)
    expect(body).toEqual({
      analysis_id: expect.any(String),
      content_hash: expect.stringMatching(/^-?\d+$/),
      can_run: true,
      checks: [{ id: 'entry_point', level: 'info', message: 'it is run for its circuit' }],
      cost: {
        total_usd: 0,
        breakdown: { task_fee: 0, per_shot: 0, shots: 10, tasks: 1, minimum_cost: 0 }
      }
    })
    const { analysis_id } = body
    expect((await run(ada, { script_id: id, analysis_id, warn_check_ids: [] })).status).toBe(201)
  })

  test('requires consent to each warning by its id', async () => {
    const content =
      'import nosuchone\nimport nosuchtwo\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n'
    const id = await scriptOf(ada, { content, metadata: { ...metadataOf(content), framework: 'qiskit' } })
    const { body } = await analyse(ada, id, { content })
    expect(body.can_run).toBe(true)
    const warnings = body.checks.filter(({ level }: { level: string }) => level === 'warning')
    expect(warnings.map(({ id, line }: { id: string; line: number }) => [id, line])).toEqual([
      ['import_not_installed', 1],
      ['import_not_installed-2', 2]
    ])
    const submit = (warn_check_ids?: string[]) =>
      run(ada, { script_id: id, analysis_id: body.analysis_id, warn_check_ids })
    for (const given of [undefined, ['other']])
      expect((await submit(given)).body.error).toMatch(/: import_not_installed, import_not_installed-2$/)
    const partly = await submit(['import_not_installed'])
    expect([partly.status, partly.body.error]).toEqual([
      400,
      expect.stringMatching(/^warn_check_ids: .*: import_not_installed-2$/)
    ])
    expect((await submit(['import_not_installed', 'import_not_installed-2', 'other'])).status).toBe(201)
  })

  test('is of one script, source, team, backend, number of shots and of circuits, and price', async () => {
    const id = await scriptOf(ada)
    const other = await scriptOf(ada)
    const { id: team_id } = (await ada.post('/api/teams', { name: 'other' })).body
    const { analysis_id } = (await analyse(ada, id, { circuit_count: 2 })).body
    const params = { shots: 10, circuit_count: 2 }
    const named = { script_id: id, analysis_id, params }
    const messages: unknown[] = []
    for (const changes of [
      { script_id: other },
      { team_id },
      { backend: 'marqov-sim' },
      { params: { shots: 11, circuit_count: 2 } },
      { params: { shots: 10 } },
      { analysis_id: crypto.randomUUID() },
      { analysis_id: 'x' }
    ]) {
      const { status, body } = await run(ada, { ...named, ...changes })
      messages.push([status, body.error])
    }
    expect(messages).toEqual(
      [
        /the analysis is of another script/,
        /no analysis of this team/,
        /for backend local \(got marqov-sim\)/,
        /for params\.shots 10 \(got 11\)/,
        /for params\.circuit_count 2 \(got 1\)/,
        /no analysis of this team/,
        /no analysis of this team/
      ].map((message) => [409, expect.stringMatching(message)])
    )
    expect((await run(ada, named)).status).toBe(201)
    await ada.ask('PATCH', `/api/scripts/${id}`, { script_content: `${bellQasm3()}// changed\n` })
    const late = await run(ada, named)
    expect([late.status, late.body.error]).toEqual([409, expect.stringMatching(/the script has changed since/)])
  })

  test('does not hold when the price has risen', async () => {
    const id = await scriptOf(ada)
    const price = (taskFee: bigint) =>
      changeBackend(db, 'aer-mps', { pricing: { taskFee, perShot: 0n, minimumCost: taskFee } })
    await price(100_000n)
    const { body } = await analyse(ada, id, { backend: 'aer-mps' })
    expect(body.cost.total_usd).toBe(0.1)
    const submit = () => run(ada, { script_id: id, analysis_id: body.analysis_id, backend: 'aer-mps' })
    await price(200_000n)
    expect((await submit()).status).toBe(409)
    await price(50_000n)
    expect((await submit()).status).toBe(201)
    await price(0n)
  })

  test('is refused for a source other than the saved one, and for a wrong digest', async () => {
    const id = await scriptOf(ada)
    const changed = await analyse(ada, id, { content: `${bellQasm3()} ` })
    expect([changed.status, changed.body.error]).toEqual([
      409,
      expect.stringMatching(/^content: differs from the saved source/)
    ])
    const wrong = await analyse(ada, id, { content_hash: '0'.repeat(64) })
    expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringMatching(/^content_hash: must be the SHA-256/)])
    expect((await analyse(ada, id, { backend: 'nope' })).status).toBe(400)
    expect((await analyse(bob, id)).status).toBe(404)
  })

  test('reports what prevents the script from running', async () => {
    const id = await scriptOf(ada)
    const errors = async (changes: Record<string, unknown>) => {
      const { body } = await analyse(ada, id, changes)
      return [
        body.can_run,
        ...body.checks.flatMap((check: { id: string; level: string }) => (check.level === 'error' ? [check.id] : []))
      ]
    }
    expect(await errors({ backend: 'ibm-fez' })).toEqual([false, 'backend', 'credentials'])
    expect(await errors({ backend: 'aer-statevector', shots: 100_000 })).toEqual([false, 'budget'])
    expect(await errors({ backend: 'aer-statevector' })).toEqual([true])
  })

  test('returns the hint that clients compute', async () => {
    const id = await scriptOf(ada)
    let hash = 5381
    for (const unit of Buffer.from(bellQasm3())) hash = ((hash << 5) + hash + unit) | 0
    expect((await analyse(ada, id)).body.content_hash).toBe(String(hash))
  })

  test('is refused for a key of tier read, and reports that a key of tier simulate cannot pay', async () => {
    const made = async (tier: string) =>
      (await ada.post('/api/team/api-keys', { team_id: ada.teamId, name: tier, tier, kind: 'live' })).body.key
    const id = await scriptOf(ada)
    const ask = async (key: string, backend: string) =>
      api.ask(
        'POST',
        `/api/scripts/${id}/analyse`,
        { content: bellQasm3(), content_hash: sha256(bellQasm3()), backend, shots: 10 },
        { authorization: `Bearer ${key}` }
      )
    expect((await ask(await made('read'), 'local')).status).toBe(403)
    const { body } = await ask(await made('simulate'), 'aer-statevector')
    expect(body).toMatchObject({ can_run: false, checks: [{ id: 'key', level: 'error' }, { id: 'entry_point' }] })
  })
})

test('a request that would reach a prototype is refused', async () => {
  const answer = await ada.post(
    '/api/scripts/upload',
    '{"name":"x","script_content":"OPENQASM 3.0;","__proto__":{"a":1}}'
  )
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/__proto__: this key is not allowed/)])
  const own = submission({ inline_code: undefined, framework: undefined, script_slug: '__proto__' })
  expect((await ada.post('/api/jobs/submit', own)).status).toBe(400)
  expect((await run(ada, { script_slug: 'constructor' })).status).toBe(404)
})
