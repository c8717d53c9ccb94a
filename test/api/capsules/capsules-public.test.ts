// The public catalogue: what it shows to everyone, what it never shows, and takedown.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi, type TestUser } from '../../support/api/api.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { addPastRuns } from '../../support/capsules/past-runs.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'

const api = await startApi('capsules_public')
const { db } = api.database
afterAll(() => api.close())

const PRIVATE = 'a-mark-that-nobody-may-see'

type Member = TestUser & { teamId: string }
let ada: Member
let admin: TestUser
beforeAll(async () => {
  ada = await api.signUpWithTeam({ email: `${PRIVATE}@example.org` })
  admin = await api.signUp({ admin: true })
})

const anybody = (path: string) => api.ask('GET', path)
const publish = (id: string, body: object) => ada.post(`/api/capsules/${id}/publish`, body)

async function sealed(changes: Record<string, unknown> = {}): Promise<string> {
  const jobId = await ada.submit(submission(changes))
  await finishJob(db, jobId)
  const made = await ada.post('/api/capsules/from-job', { job_id: jobId, name: 'Inside name', seal: true })
  return made.body.capsule_id
}

test('a published capsule shows its programs, digests and signature to everyone', async () => {
  const id = await sealed({ params: { shots: 100, theta: 0.25 } })
  const answer = await publish(id, {
    title: 'Bell: a pair!',
    description: 'Two qubits',
    readme: '# Read me',
    license: 'CC-BY-4.0',
    category: 'demo',
    tags: ['bell']
  })
  expect([answer.status, answer.body.state, answer.body.publication]).toEqual([
    200,
    'published',
    {
      slug: 'bell-a-pair',
      title: 'Bell: a pair!',
      description: 'Two qubits',
      readme: '# Read me',
      license: 'CC-BY-4.0',
      category: 'demo',
      tags: ['bell'],
      published_at: expect.any(String),
      taken_down_at: null,
      takedown_reason: null
    }
  ])
  const found = await anybody('/api/capsules/public/bell-a-pair')
  expect(found.status).toBe(200)
  expect(found.body).toMatchObject({
    id,
    title: 'Bell: a pair!',
    readme: '# Read me',
    capsule_digest: answer.body.seal.capsule_digest,
    workflow: { tasks: [{ inline_code: bellQasm3(), parameters: { shots: 100, theta: 0.25 } }] },
    evidence: { task_executions: 1 },
    seal: { root_digest: answer.body.seal.root_digest, signature: answer.body.seal.signature }
  })
  const list = async (query: string) => (await anybody(`/api/capsules/public${query}`)).body
  expect((await list('')).capsules[0]).toMatchObject({ id, slug: 'bell-a-pair' })
  for (const query of ['?q=QUBITS', '?tag=bell', '?category=demo']) expect((await list(query)).total).toBe(1)
  for (const query of ['?q=nothing', '?tag=b', '?category=demos']) expect((await list(query)).total).toBe(0)
})

test('a slug belongs to one capsule only', async () => {
  const ids = [await sealed(), await sealed(), await sealed()]
  const answers = await Promise.all(ids.map((id) => publish(id, { title: 'The same', description: 'd' })))
  const slugs = answers.map(({ body }) => body.publication.slug as string)
  expect(new Set(slugs).size).toBe(3)
  expect(slugs).toContain('the-same')
  for (const [at, slug] of slugs.entries())
    expect((await anybody(`/api/capsules/public/${slug}`)).body.id).toBe(ids[at])
})

test('the public catalogue shows no unpublished capsule, no person and no team', async () => {
  const seen = await sealed({ name: PRIVATE })
  await publish(seen, { title: 'Seen', description: 'd' })
  await ada.post('/api/capsules/create', { name: PRIVATE, description: PRIVATE, tags: [PRIVATE] })
  const jobId = await ada.submit(submission({ params: { shots: 1, note: PRIVATE } }))
  await finishJob(db, jobId)
  await ada.post('/api/capsules/from-job', { job_id: jobId, name: PRIVATE })
  await ada.post('/api/capsules/from-job', { job_id: jobId, name: PRIVATE, seal: true })
  await db.execute(sql`update teams set name = ${PRIVATE} where id = ${ada.teamId}`)
  const pages = [await anybody('/api/capsules/public?limit=100'), await anybody('/api/capsules/public/seen')]
  for (const { status, text } of pages) {
    expect(status).toBe(200)
    expect(text).not.toContain(PRIVATE)
    // The signed statement is in base64.
    for (const [, payload] of text.matchAll(/"payload":"([^"]+)"/g))
      expect(Buffer.from(payload!, 'base64').toString()).not.toContain(PRIVATE)
    expect(text).not.toContain(ada.teamId)
  }
})

test('a capsule that is taken down leaves the catalogue, and its team still has it with the reason', async () => {
  const id = await sealed()
  const { slug } = (await publish(id, { title: 'To be taken down', description: 'd' })).body.publication
  const takeDown = (user: TestUser, reason = 'a complaint') =>
    user.post(`/api/admin/capsules/${id}/takedown`, { reason })
  expect((await takeDown(ada)).status).toBe(404)
  const answer = await takeDown(admin)
  expect([answer.status, answer.body.state]).toEqual([200, 'published'])
  expect((await anybody(`/api/capsules/public/${slug}`)).status).toBe(404)
  expect((await anybody('/api/capsules/public?q=taken')).body.total).toBe(0)
  expect((await admin.post(`/api/capsules/${id}/clone`)).status).toBe(404)
  const { publication } = (await ada.get(`/api/capsules/${id}`)).body
  expect(publication).toMatchObject({ taken_down_at: expect.any(String), takedown_reason: 'a complaint' })
  const again = (await takeDown(admin, 'another')).body.publication
  expect(again).toEqual({ ...publication, takedown_reason: 'another' })
  const entries = await db.execute(sql`select actor, action from audit_entries
    where capsule_id = ${id} and action = 'capsule.takedown'`)
  expect([...entries]).toEqual([1, 2].map(() => ({ actor: `admin:${admin.id}`, action: 'capsule.takedown' })))
  const { entries: acts } = (await admin.get('/api/admin/audit')).body
  expect(acts[0]).toMatchObject({ action: 'capsule.takedown', target: id, details: { reason: 'another' } })
  expect((await admin.post(`/api/admin/capsules/${await sealed()}/takedown`, { reason: 'x' })).status).toBe(409)
})

test('strangers can read, export and clone a published capsule and nothing else, until it is taken down', async () => {
  const stranger = await api.signUpWithTeam()
  const id = await sealed()
  const ask = (method: string, rest = '', body?: object) => stranger.ask(method, `/api/capsules/${id}${rest}`, body)
  const taking: [string, string, number][] = [
    ['GET', '/export', 200],
    ['GET', '/export?format=rocrate', 200],
    ['GET', '/attestation', 200],
    ['GET', '/files/tasks%2Fmain%2Fresult.json', 200],
    ['POST', '/clone', 201]
  ]
  const owning: [string, string, object?][] = [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['DELETE', ''],
    ['POST', '/seal', { exit_code: 0 }],
    ['POST', '/publish', { title: 't', description: 'd' }],
    ['POST', '/archive'],
    ['POST', '/run', { mode: 'verify' }],
    ['GET', '/runs'],
    ['GET', '/audit'],
    ['GET', '/verifications'],
    ['GET', '/schedule'],
    ['PUT', '/schedule', { cron: '@daily' }],
    ['DELETE', '/schedule']
  ]
  const statuses = async () => {
    const all: number[] = []
    for (const [method, rest] of taking) all.push((await ask(method, rest)).status)
    for (const [method, rest, body] of owning) all.push((await ask(method, rest, body)).status)
    return all
  }
  const nothing = [...taking, ...owning].map(() => 404)
  expect(await statuses()).toEqual(nothing)
  await publish(id, { title: 'For strangers', description: 'd' })
  expect(await statuses()).toEqual([...taking.map(([, , status]) => status), ...owning.map(() => 404)])
  await admin.post(`/api/admin/capsules/${id}/takedown`, { reason: 'a complaint' })
  expect(await statuses()).toEqual(nothing)
})

test('everyone can read the package, attestation, files and verdicts of a published capsule, until it is taken down', async () => {
  const id = await sealed({ name: PRIVATE })
  const { slug } = (await publish(id, { title: 'Open to everyone', description: 'd' })).body.publication
  const report = '{"tvd": 0.01, "tvd_upper": 0.03, "margin": 0.05, "p_values": {"combined": 0.4}}'
  await addPastRuns(db, id, sql`values ('completed', 'consistent', '2027-04-30T01:02:03Z', ${report}, 'request')`)
  const path = `/api/capsules/public/${slug}`
  const [own, open] = [await ada.get(`/api/capsules/${id}/export`), await anybody(`${path}/export`)]
  expect([open.status, open.headers['content-disposition']]).toEqual([200, own.headers['content-disposition']])
  expect(open.text === own.text).toBe(true)
  expect((await anybody(`${path}/export?format=rocrate`)).status).toBe(200)
  expect((await anybody(`${path}/attestation`)).text).toBe((await ada.get(`/api/capsules/${id}/attestation`)).text)
  const record = (await anybody(path)).body
  const { sha256 } = record.evidence.artifacts.find((file: { name: string }) => file.name === 'tasks/main/result.json')
  const file = await anybody(`${path}/files/tasks%2Fmain%2Fresult.json`)
  expect([file.status, file.headers.etag, file.headers['content-disposition']]).toEqual([
    200,
    `"${sha256}"`,
    'attachment; filename="result.json"'
  ])
  const again = await api.ask('GET', `${path}/files/tasks%2Fmain%2Fresult.json`, undefined, {
    'if-none-match': `"${sha256}"`
  })
  expect(again.status).toBe(304)
  expect((await anybody(`${path}/files/tasks%2Fmain%2F..%2Fresult.json`)).status).toBe(404)
  const past = await anybody(`${path}/verifications`)
  expect(past.body.verifications).toEqual([
    {
      completed_at: expect.any(String),
      verdict: 'consistent',
      tvd: 0.01,
      tvd_upper: 0.03,
      margin: 0.05,
      p_value: 0.4
    }
  ])
  expect(past.text).not.toContain(id)
  await admin.post(`/api/admin/capsules/${id}/takedown`, { reason: 'a complaint' })
  for (const rest of ['/export', '/attestation', '/files/tasks%2Fmain%2Fresult.json', '/verifications'])
    expect((await anybody(`${path}${rest}`)).status).toBe(404)
})

test.each([
  ['no title', { description: 'd' }],
  ['no description', { title: 't' }],
  ['a title of 201 characters', { title: 'x'.repeat(201), description: 'd' }],
  ['a requested slug', { title: 't', description: 'd', slug: 'mine' }],
  ['eleven tags', { title: 't', description: 'd', tags: Array.from({ length: 11 }, () => 'x') }]
])('a capsule is not published with %s', async (_, body) => {
  const id = await sealed()
  expect((await publish(id, body)).status).toBe(400)
  expect((await ada.get(`/api/capsules/${id}`)).body.state).toBe('sealed')
})
