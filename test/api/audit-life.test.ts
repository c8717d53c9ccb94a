// The trail of capsules that live their lives through the api: complete, proved, and without an address.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi } from '../support/api.js'
import { bellQasm3, submission } from '../support/builders.js'
import { finishJob } from '../support/capsule-rows.js'

const api = await startApi('audit-life')
const { db } = api.database
afterAll(() => api.close())

const bell = { name: 'bell', inline_code: bellQasm3(), framework: 'openqasm', backend: 'local', parameters: {} }

test('every operation leaves its entry, and the trail holds', async () => {
  const owner = await api.signUpWithTeam({ email: 'canary@mail.example.org' })
  const admin = await api.signUp({ admin: true })
  const ok = async (answer: Promise<{ status: number; text: string; body: Record<string, string> }>) => {
    const { status, body, text } = await answer
    if (status >= 300) throw new Error(text)
    return body
  }
  const { capsule_id: draft } = await ok(
    owner.post('/api/capsules/create', { name: 'of canary@mail.example.org', workflow: { tasks: [bell] } })
  )
  await ok(owner.ask('PATCH', `/api/capsules/${draft}`, { description: 'changed', tags: ['a'] }))
  await ok(owner.ask('DELETE', `/api/capsules/${draft}`))
  const jobId = await owner.submit(submission({}))
  await finishJob(db, jobId)
  const ofJob = async () => (await ok(owner.post('/api/capsules/from-job', { job_id: jobId }))).capsule_id
  const [published, archived] = [await ofJob(), await ofJob()]
  for (const id of [published, archived]) await ok(owner.post(`/api/capsules/${id}/seal`, { exit_code: 0 }))
  await ok(owner.post(`/api/capsules/${published}/run`, { mode: 'verify' }))
  const schedule = { cron: '@daily', timezone: 'UTC', alert: { emails: [owner.email] } }
  await ok(owner.ask('PUT', `/api/capsules/${published}/schedule`, schedule))
  await ok(owner.ask('DELETE', `/api/capsules/${published}/schedule`))
  await ok(owner.post(`/api/capsules/${published}/publish`, { title: 'Bell', description: 'd' }))
  const { capsule_id: clone } = await ok(owner.post(`/api/capsules/${published}/clone`, {}))
  await ok(owner.post(`/api/capsules/${archived}/archive`))
  await ok(admin.post(`/api/admin/capsules/${published}/takedown`, { reason: 'a test' }))

  const { entries } = (await owner.get('/api/team/audit?limit=100')).body
  const lives = (id: string) =>
    entries
      .filter((entry: { capsule_id: string }) => entry.capsule_id === id)
      .map((entry: Record<string, string>) => [entry.action, entry.previous_state, entry.new_state].join(' '))
      .reverse()
  expect(lives(draft!)).toEqual(['capsule.created  draft', 'capsule.updated draft draft', 'capsule.deleted draft '])
  expect(lives(published!)).toEqual([
    'capsule.created  runnable',
    'capsule.sealed runnable sealed',
    'capsule.run sealed sealed',
    'capsule.schedule.changed sealed sealed',
    'capsule.schedule.deleted sealed sealed',
    'capsule.published sealed published',
    'capsule.takedown published published'
  ])
  expect(lives(archived!)).toEqual([
    'capsule.created  runnable',
    'capsule.sealed runnable sealed',
    'capsule.archived sealed archived'
  ])
  expect(lives(clone!)).toEqual(['capsule.cloned  draft'])
  const actors = new Set(entries.map((entry: { actor: string }) => entry.actor))
  expect([...actors].sort()).toEqual([`admin:${admin.id}`, `user:${owner.id}`])
  expect((await owner.get('/api/team/audit/verify')).body).toMatchObject({
    ok: true,
    first_broken: null,
    entries: entries.length,
    checkpoints: 2,
    seals: 2
  })
  const [kept] = await db.execute<{ all: string }>(sql`select json_agg(e)::text as all from audit_entries e`)
  expect(kept!.all).not.toContain('mail.example.org')
}, 30_000)
