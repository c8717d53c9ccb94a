// The audit trail of capsules through all their operations at the API: complete, verifiable, without email addresses, and
// in conflict with every row that is changed directly in the database.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { advanceRun } from '../../../db/capsule-runs/capsule-run-steps.js'
import { recordJudged } from '../../../db/capsule-runs/capsule-verifications.js'
import { recordRefusedRun } from '../../../db/capsule-runs/refused-runs.js'
import type { Tx } from '../../../db/client.js'
import { auditReport } from '../../../db/proofs/audit-verify.js'
import { auditActions } from '../../../domain/audit/audit-action.js'
import type { Verification } from '../../../domain/verification/report.js'
import { auditEvidence } from '../../../services/audit/audit-proof.js'
import { startApi, type TestUser, testKeyRing } from '../../support/api/api.js'
import { tampered } from '../../support/capsules/audit-trails.js'
import { tarGz } from '../../support/capsules/capsule-bench.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'

const api = await startApi('audit-life')
const { db } = api.database
afterAll(() => api.close())

const bell = { name: 'bell', inline_code: bellQasm3(), framework: 'openqasm', backend: 'local', parameters: {} }
const ADDRESS = 'canary@mail.example.org'

interface Entry {
  seq: number
  capsule_id: string
  action: string
  actor: string
  previous_state: string | null
  new_state: string | null
  metadata: Record<string, unknown>
}

let owner: TestUser & { teamId: string }
let admin: TestUser
/** Ids by what happened to the capsule or run. */
const ids = {} as Record<
  'deleted' | 'draft' | 'runnable' | 'sealed' | 'published' | 'archived' | 'clone' | 'imported' | 'uploaded',
  string
>
const runs = {} as Record<'verified' | 'unverified' | 'refused', string>
let entries: Entry[]

async function ok(answer: Promise<{ status: number; text: string; body: Record<string, string> }>) {
  const { status, body, text } = await answer
  if (status >= 300) throw new Error(text)
  return body
}

/** Runs the capsule as its owner, completes the job, and continues until a verdict is due. */
async function ran(capsuleId: string): Promise<string> {
  const run = await ok(owner.post(`/api/capsules/${capsuleId}/run`, { mode: 'verify' }))
  await finishJob(db, run.job_id!)
  await advanceRun(db, run.capsule_run_id!)
  return run.capsule_run_id!
}

const verdict: Verification = {
  verdict: 'consistent',
  method: 'pearson+cdvv',
  alpha: 0.01,
  beta: 0.1,
  margin: 0.2,
  p_values: { pearson: 0.4, cdvv: 0.6, combined: 0.8 },
  tvd: 0.03,
  tvd_upper: 0.15,
  reason: `told to ${ADDRESS}`,
  checks: []
} as unknown as Verification

beforeAll(async () => {
  owner = await api.signUpWithTeam({ email: ADDRESS })
  admin = await api.signUp({ admin: true })
  const create = async (name: string) =>
    (await ok(owner.post('/api/capsules/create', { name, workflow: { tasks: [bell] } }))).capsule_id!
  const jobId = await owner.submit(submission({}))
  await finishJob(db, jobId)
  const ofJob = async (more = {}) =>
    (await ok(owner.post('/api/capsules/from-job', { job_id: jobId, ...more }))).capsule_id!

  ids.deleted = await create(`of ${ADDRESS}`)
  await ok(owner.ask('PATCH', `/api/capsules/${ids.deleted}`, { description: ADDRESS, tags: ['a'] }))
  await ok(owner.ask('DELETE', `/api/capsules/${ids.deleted}`))
  ids.draft = await create('a draft')
  ids.runnable = await ofJob()
  ids.sealed = await ofJob({ seal: { exit_code: 0, exit_message: `ask ${ADDRESS}` } })
  ids.published = await ofJob()
  ids.archived = await ofJob({ seal: true })
  await ok(owner.post(`/api/capsules/${ids.published}/seal`, { exit_code: 0 }))
  const schedule = { cron: '@daily', timezone: 'UTC', alert: { emails: [owner.email] } }
  for (const id of [ids.sealed, ids.published]) await ok(owner.ask('PUT', `/api/capsules/${id}/schedule`, schedule))
  runs.verified = await ran(ids.published)
  await db.transaction((tx) => recordJudged(tx, runs.verified, verdict))
  runs.unverified = await ran(ids.published)
  await db.transaction((tx) => recordJudged(tx, runs.unverified, `no result; ask ${ADDRESS}`))
  runs.refused = (await db.transaction((tx) =>
    recordRefusedRun(tx, {
      capsuleId: ids.sealed,
      mode: 'verify',
      trigger: 'schedule',
      actor: 'system',
      owner: { userId: owner.id },
      scheduledAt: new Date(),
      reason: 'The team is suspended'
    })
  ))!
  await ok(owner.ask('DELETE', `/api/capsules/${ids.published}/schedule`))
  const shown = { title: `Bell by ${ADDRESS}`, description: 'd', readme: ADDRESS }
  await ok(owner.post(`/api/capsules/${ids.published}/publish`, shown))
  ids.clone = (await ok(owner.post(`/api/capsules/${ids.published}/clone`, {}))).capsule_id!
  await ok(owner.post(`/api/capsules/${ids.archived}/archive`))
  await ok(admin.post(`/api/admin/capsules/${ids.published}/takedown`, { reason: `asked for by ${ADDRESS}` }))
  const file = async (path: string, type: string, body: string | Buffer) =>
    (await ok(api.ask('POST', path, body, { cookie: owner.cookie, 'content-type': type }))).capsule_id!
  const manifest = JSON.stringify({
    version: '1.0.0',
    name: `of ${ADDRESS}`,
    lifecycle_state: 'draft',
    created_by: ADDRESS
  })
  ids.imported = await file('/api/capsules/import', 'application/gzip', tarGz({ 'x/capsule.yaml': manifest }))
  ids.uploaded = await file('/api/capsules/upload', 'application/yaml', `name: of ${ADDRESS}`)
  ;({ entries } = (await owner.get('/api/team/audit?limit=100')).body)
}, 60_000)

describe('every operation', () => {
  const life = (id: string) =>
    entries
      .filter((entry) => entry.capsule_id === id)
      .map((entry) => [entry.action, entry.previous_state, entry.new_state].join(' '))
      .reverse()

  test('leaves one entry, with the states before and after it', () => {
    expect(life(ids.deleted)).toEqual([
      'capsule.created  draft',
      'capsule.updated draft draft',
      'capsule.deleted draft '
    ])
    expect(life(ids.draft)).toEqual(['capsule.created  draft'])
    expect(life(ids.runnable)).toEqual(['capsule.created  runnable'])
    expect(life(ids.sealed)).toEqual([
      'capsule.created  runnable',
      'capsule.sealed runnable sealed',
      'capsule.schedule.changed sealed sealed',
      'capsule.run sealed sealed'
    ])
    expect(life(ids.published)).toEqual([
      'capsule.created  runnable',
      'capsule.sealed runnable sealed',
      'capsule.schedule.changed sealed sealed',
      'capsule.run sealed sealed',
      'capsule.verified sealed sealed',
      'capsule.run sealed sealed',
      'capsule.verified sealed sealed',
      'capsule.schedule.deleted sealed sealed',
      'capsule.published sealed published',
      'capsule.takedown published published'
    ])
    expect(life(ids.archived)).toEqual([
      'capsule.created  runnable',
      'capsule.sealed runnable sealed',
      'capsule.archived sealed archived'
    ])
    expect(life(ids.clone)).toEqual(['capsule.cloned  draft'])
    expect(life(ids.imported)).toEqual(['capsule.imported  draft'])
    expect(life(ids.uploaded)).toEqual(['capsule.created  draft'])
    expect(new Set(entries.map(({ action }) => action))).toEqual(
      new Set(auditActions.filter((action) => action.startsWith('capsule.')))
    )
  })

  test('names its actor by an id', () => {
    const actors = new Set(entries.map(({ actor }) => actor))
    expect([...actors].sort()).toEqual([`admin:${admin.id}`, 'system', `user:${owner.id}`])
  })

  test('records no email address, in any field', async () => {
    const [kept] = await db.execute<{ all: string }>(sql`select json_agg(e)::text as all from audit_entries e`)
    expect(kept!.all).toContain('[mail address]')
    expect(kept!.all).not.toContain('mail.example.org')
    // A schedule can be @daily.
    expect(kept!.all).not.toMatch(/\w@/)
  })
})

test('the trail passes the check of the audit report', async () => {
  expect((await owner.get('/api/team/audit/verify')).body).toMatchObject({
    ok: true,
    first_broken: null,
    entries: entries.length,
    checkpoints: 3,
    seals: 3
  })
})

describe('the audit report names', () => {
  type Harm = (tx: Tx) => Promise<unknown>
  const on =
    (statement: string, of: () => string): Harm =>
    (tx) =>
      tx.execute(sql.raw(statement.replaceAll('ID', `'${of()}'`)))
  /** The entry of the capsule or run that reports the fault. */
  const entryOf = (action: string, id: string) =>
    entries.find((entry) => entry.action === action && [entry.capsule_id, entry.metadata.run_id].includes(id))!.seq
  const end = () => entries[0]!.seq + 1

  test.each<[string, string, () => string, (() => number) | string]>([
    ['a draft that was deleted', 'delete from capsules where id = ID', () => ids.draft, 'capsule.created'],
    [
      'a runnable capsule that was deleted',
      'delete from capsules where id = ID',
      () => ids.runnable,
      'capsule.created'
    ],
    [
      'the program of a draft that was changed',
      `update capsules set definition = replace(definition, 'cx', 'cz') where id = ID`,
      () => ids.draft,
      'capsule.created'
    ],
    [
      'the same, with its digest',
      `update capsules set definition = definition || ' ',
        definition_sha256 = encode(sha256(convert_to(definition || ' ', 'UTF8')), 'hex') where id = ID`,
      () => ids.clone,
      'capsule.cloned'
    ],
    [
      'evidence that was changed before a seal',
      `update capsule_files set content = '{}' where capsule_id = ID and name like '%result.json'`,
      () => ids.runnable,
      'capsule.created'
    ],
    [
      'evidence that was put in before a seal',
      `insert into capsule_files select capsule_id, 'more', sha256, size_bytes, media_type, content from capsule_files
        where capsule_id = ID limit 1`,
      () => ids.runnable,
      'capsule.created'
    ],
    [
      'a title that was changed',
      `update capsule_publications set title = 'Another' where capsule_id = ID`,
      () => ids.published,
      'capsule.takedown'
    ],
    [
      'a publication that was taken down and is shown again',
      'update capsule_publications set taken_down_at = null where capsule_id = ID',
      () => ids.published,
      'capsule.takedown'
    ],
    [
      'a publication that is gone',
      'delete from capsule_publications where capsule_id = ID',
      () => ids.published,
      'capsule.takedown'
    ],
    [
      'a publication that was inserted',
      `insert into capsule_publications select ID, 'x', title, description, readme, license, category, tags, published_at
        from capsule_publications limit 1`,
      () => ids.sealed,
      end
    ],
    [
      'a schedule that was paused',
      'update capsule_schedules set paused = true where capsule_id = ID',
      () => ids.sealed,
      'capsule.schedule.changed'
    ],
    [
      'a schedule that is gone',
      'delete from capsule_schedules where capsule_id = ID',
      () => ids.sealed,
      'capsule.schedule.changed'
    ],
    [
      'a schedule that was stopped and runs again',
      'update capsule_schedules set ended_at = null where capsule_id = ID',
      () => ids.published,
      'capsule.schedule.deleted'
    ],
    [
      'a verdict that was changed',
      `update capsule_runs set verdict = 'exact' where id = ID`,
      () => runs.verified,
      'capsule.verified'
    ],
    [
      'a report that was changed',
      `update capsule_runs set verification = jsonb_set(verification, '{checks}', '[1]') where id = ID`,
      () => runs.verified,
      'capsule.verified'
    ],
    [
      'the reason of a run that was changed',
      `update capsule_runs set reason = 'fine' where id = ID`,
      () => runs.unverified,
      'capsule.verified'
    ],
    [
      'the refusal of a run that was changed',
      `update capsule_runs set reason = 'The budget is spent' where id = ID`,
      () => runs.refused,
      'capsule.run'
    ],
    ['a run that is gone', 'delete from capsule_runs where id = ID', () => runs.verified, 'capsule.run'],
    [
      'the definition of a run that was changed',
      `update capsule_runs set definition = '{"tasks":[]}' where id = ID`,
      () => runs.verified,
      'capsule.run'
    ],
    [
      'a run that was given to another capsule',
      `update capsule_runs set capsule_id = (select id from capsules where id <> capsule_id limit 1) where id = ID`,
      () => runs.verified,
      'capsule.run'
    ],
    [
      'the job of a run exchanged for another',
      `update capsule_run_tasks set job_id = (select source_job_id from capsules where source_job_id is not null limit 1)
        where run_id = ID`,
      () => runs.verified,
      'capsule.run'
    ],
    [
      'the result of a job that a verdict was about',
      `update artifacts set content = '{}' where name = 'result.json' and
        job_id = (select job_id from capsule_run_tasks where run_id = ID)`,
      () => runs.verified,
      'capsule.verified'
    ],
    [
      'a run that was inserted',
      `insert into capsule_runs (id, capsule_id, team_id, mode, trigger, status, definition, definition_sha256, verdict)
        select gen_random_uuid(), capsule_id, team_id, mode, trigger, status, definition, definition_sha256, 'exact'
        from capsule_runs where id = ID`,
      () => runs.verified,
      end
    ],
    ['a verdict that was inserted', `update capsule_runs set verdict = 'exact' where id = ID`, () => runs.refused, end]
  ])('%s', async (_what, statement, of, where) => {
    const report = await tampered(db, on(statement, of), async (tx) =>
      auditReport(tx, owner.teamId, await auditEvidence(tx, { keyRing: testKeyRing }))
    )
    const seq = typeof where === 'string' ? entryOf(where, of()) : where()
    expect([report.firstBroken?.seq, report.firstBroken?.reason]).toEqual([seq, expect.any(String)])
  })
})

test('a deleted team leaves a valid trail that records all of its capsules', async () => {
  const leaving = await api.signUpWithTeam()
  const jobId = await leaving.submit(submission({}))
  for (const id of [
    jobId,
    ...(
      await db.execute<{ id: string }>(sql`select id from jobs where status = 'pending'
    and team_id = ${leaving.teamId}`)
    ).map(({ id }) => id)
  ].filter((id, at, all) => all.indexOf(id) === at))
    await finishJob(db, id)
  const make = async (more: object) =>
    (await ok(leaving.post('/api/capsules/from-job', { job_id: jobId, ...more }))).capsule_id!
  const sealed = await make({ seal: true })
  await make({})
  await ok(leaving.ask('DELETE', `/api/teams/${leaving.teamId}`))
  const report = await db.transaction(async (tx) =>
    auditReport(tx, leaving.teamId, await auditEvidence(tx, { keyRing: testKeyRing }))
  )
  expect(report).toMatchObject({ firstBroken: null, entries: 5, seals: 1 })
  const told = await db.execute(sql`select actor, previous_state, new_state from audit_entries
    where capsule_id = ${sealed} and action = 'capsule.deleted'`)
  expect([...told]).toEqual([{ actor: `user:${leaving.id}`, previous_state: 'sealed', new_state: null }])
})
