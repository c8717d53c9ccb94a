// Runs of capsules in the database: the order of their states, steps that several workers take at once, verdicts given
// once.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { listRuns, loadCapsuleRun } from '../../../db/capsule-runs/capsule-run-records.js'
import { advanceRun, dueRuns } from '../../../db/capsule-runs/capsule-run-steps.js'
import { createRun } from '../../../db/capsule-runs/capsule-runs.js'
import { loadToJudge, recordJudged, takeRunToJudge } from '../../../db/capsule-runs/capsule-verifications.js'
import { createCapsule } from '../../../db/capsules/capsule-changes.js'
import { postgresCode } from '../../../db/client.js'
import { newId } from '../../../db/ids.js'
import { requestCancel } from '../../../db/job-steps/job-steps.js'
import { webhooks } from '../../../db/tables/teams.js'
import { lockTeamForWrite } from '../../../db/teams/teams.js'
import { type CapsuleRunStatus, capsuleRunStatuses, runTransitions } from '../../../domain/capsules/capsule-state.js'
import { createTurns } from '../../../domain/teams/turns.js'
import type { Verification } from '../../../domain/verification/report.js'
import { addCapsuleOfJob, bellResult, finishJob } from '../../support/capsules/capsule-rows.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { addPerson, addTeam, type Person } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('capsule_run_rows', { max: 12 })
const { db } = database
let person: Person
let teamId: string
beforeAll(async () => {
  person = await addPerson(db)
})
beforeEach(async () => {
  teamId = await addTeam(db, person)
})
afterAll(() => database.drop())

const start = (capsuleId: string, mode: 'verify' | 'template') =>
  db.transaction(async (tx) => {
    await lockTeamForWrite(tx, { ...person, key: null }, teamId)
    const owner = { userId: person.userId, keyId: null }
    return createRun(tx, { capsuleId, mode, trigger: 'request', owner, actor: 'system', at: new Date() })
  })

const addSuite = (parameters: Record<string, unknown>[]) =>
  db.transaction((tx) =>
    createCapsule(
      tx,
      {
        teamId,
        ownerId: person.userId,
        state: 'draft',
        name: 'a suite',
        description: '',
        tags: [],
        definition: {
          tasks: parameters.map((given, place) => ({
            name: `t${place}`,
            source: { kind: 'circuit', format: 'qasm3', text: bellQasm3() },
            backend: 'local',
            parameters: { shots: 100, ...given },
            execution_mode: 'direct',
            timeout_seconds: 60,
            circuit_count: 1
          }))
        },
        maxBudget: null,
        retentionYears: null,
        regulatoryFramework: null
      },
      { actor: 'system' }
    )
  )

const startsOf = async (jobIds: string[]) =>
  (
    await db.execute<{ job_id: string; held_reason: string | null; due: boolean }>(sql`
      select job_id, held_reason, due_at <= now() and next_at <= now() as due from outbox order by job_id`)
  ).filter(({ job_id }) => jobIds.includes(job_id))

const statusOf = async (runId: string) =>
  (await db.execute<{ status: CapsuleRunStatus }>(sql`select status from capsule_runs where id = ${runId}`))[0]!.status

describe('the database', () => {
  const refused = (error: unknown) => postgresCode(error) === '23514'

  test("allows exactly the changes of a run's status that the table lists", async () => {
    const capsule = await addSuite([{}])
    const allowed: string[] = []
    for (const from of capsuleRunStatuses)
      for (const to of capsuleRunStatuses) {
        const { runId } = await start(capsule, 'template')
        await db.transaction(async (tx) => {
          await tx.execute(sql`set local session_replication_role = replica`)
          await tx.execute(sql`update capsule_runs set status = ${from} where id = ${runId}`)
        })
        const done = await db.execute(sql`update capsule_runs set status = ${to} where id = ${runId}`).then(
          () => true,
          (error) => !refused(error)
        )
        if (done && from !== to) allowed.push(`${from} ${to}`)
      }
    const table = Object.entries(runTransitions).flatMap(([from, list]) => list.map((to) => `${from} ${to}`))
    expect(allowed.sort()).toEqual(table.sort())
    await db.execute(sql`delete from capsule_runs where capsule_id = ${capsule}`)
  })

  test.each(['definition', 'definition_sha256', 'mode', 'trigger'])(
    'never changes what a run was a run of: %s',
    async (column) => {
      const { runId } = await start(await addSuite([{}]), 'template')
      const change = db.execute(sql`update capsule_runs set ${sql.identifier(column)} = 'another' where id = ${runId}`)
      await expect(change.then(() => null, refused)).resolves.toBe(true)
    }
  )

  test('refuses every change of a verdict', async () => {
    const { runId } = await start(await addSuite([{}]), 'template')
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update capsule_runs set status = 'completed', verdict = 'different' where id = ${runId}`)
    })
    const change = db.execute(sql`update capsule_runs set verdict = 'exact' where id = ${runId}`)
    await expect(change.then(() => null, refused)).resolves.toBe(true)
  })
})

describe('several concurrent workers', () => {
  test('start the next task once, with the result in its parameters', async () => {
    const capsule = await addSuite([{}, { x: { $result: 't0', path: '/counts/11' } }, {}])
    const { runId, jobIds } = await start(capsule, 'template')
    expect((await startsOf(jobIds)).map(({ held_reason }) => held_reason)).toEqual([
      null,
      'earlier_task',
      'earlier_task'
    ])
    expect(await dueRuns(db, 9)).toEqual([])
    await finishJob(db, jobIds[0]!, bellResult({ '00': 7, '11': 93 }))
    expect(await dueRuns(db, 9)).toEqual([runId])
    const steps = await Promise.all(Array.from({ length: 8 }, () => advanceRun(db, runId)))
    expect(steps.flatMap(({ changed }) => changed)).toEqual([jobIds[1]])
    expect(await startsOf(jobIds)).toEqual([
      { job_id: jobIds[1], held_reason: null, due: true },
      { job_id: jobIds[2], held_reason: 'earlier_task', due: false }
    ])
    const [job] = await db.execute(sql`select params from jobs where id = ${jobIds[1]}`)
    expect(JSON.parse(job!.params as string)).toEqual({ shots: 100, x: 93 })
    expect(await dueRuns(db, 9)).toEqual([])
    expect(await statusOf(runId)).toBe('running')
  })

  test('end a cancelled run once, and start no further task', async () => {
    const { runId, jobIds } = await start(await addSuite([{}, {}, {}, {}]), 'template')
    await finishJob(db, jobIds[0]!)
    await Promise.all([requestCancel(db, jobIds[2]!), ...Array.from({ length: 6 }, () => advanceRun(db, runId))])
    await advanceRun(db, runId)
    expect(await loadCapsuleRun(db, (await capsuleIdOf(runId))!, runId)).toMatchObject({
      status: 'cancelled',
      reason: expect.stringContaining('it was cancelled'),
      tasks: [{ status: 'completed' }, { status: 'cancelled' }, { status: 'cancelled' }, { status: 'cancelled' }]
    })
    expect(await startsOf(jobIds)).toEqual([])
  })
})

const capsuleIdOf = async (runId: string) =>
  (await db.execute<{ capsule_id: string }>(sql`select capsule_id from capsule_runs where id = ${runId}`))[0]
    ?.capsule_id

describe('a verdict', () => {
  const report = { verdict: 'consistent', p_values: { combined: 0.5 }, reason: 'because', margin: 0.05 } as Verification

  async function toBeJudged() {
    const capsule = await addCapsuleOfJob(db, person, teamId)
    const { runId, jobIds } = await start(capsule, 'verify')
    await finishJob(db, jobIds[0]!, bellResult({ '00': 40, '11': 60 }))
    expect((await advanceRun(db, runId)).status).toBe('judging')
    return { capsule, runId }
  }

  const recordedAbout = async (runId: string) => ({
    audit: (
      await db.execute(sql`select action from audit_entries where metadata::json ->> 'run_id' = ${runId} order by seq`)
    ).map(({ action }) => action),
    webhooks: (
      await db.execute(
        sql`select payload from webhook_deliveries where payload::json #>> '{data,capsule_run_id}' = ${runId}`
      )
    ).map(({ payload }) => JSON.parse(payload as string))
  })

  test("is computed in turns of the teams: another team's run waits for one verdict, not for a backlog", async () => {
    const [first, second, third] = [await toBeJudged(), await toBeJudged(), await toBeJudged()]
    teamId = await addTeam(db, person)
    const other = await toBeJudged()
    const turns = createTurns()
    const judged: string[] = []
    for (let run = 0; run < 3; run++)
      await db.transaction(async (tx) => {
        const next = await takeRunToJudge(tx, turns)
        judged.push(next!.id)
        await recordJudged(tx, next!.id, 'enough')
      })
    expect(judged).toEqual([first!.runId, other.runId, second!.runId])
    await db.transaction((tx) => recordJudged(tx, third!.runId, 'enough'))
  })

  test('is judged by one worker, and by another when that one disconnects', async () => {
    const { runId } = await toBeJudged()
    const lost = db.transaction(async (tx) => {
      expect(await takeRunToJudge(tx, createTurns())).toMatchObject({ id: runId })
      expect(await db.transaction((other) => takeRunToJudge(other, createTurns()))).toBeNull()
      throw new Error('the worker dies')
    })
    await expect(lost).rejects.toThrow('the worker dies')
    expect(await db.transaction((other) => takeRunToJudge(other, createTurns()))).toMatchObject({ id: runId })
    await db.transaction((tx) => recordJudged(tx, runId, 'enough'))
    expect(await db.transaction((other) => takeRunToJudge(other, createTurns()))).toBeNull()
    expect(await statusOf(runId)).toBe('failed')
  })

  test("compares the capsule's result with the run's", async () => {
    const { runId } = await toBeJudged()
    const { tasks, margin } = (await loadToJudge(db, runId)) as Exclude<Awaited<ReturnType<typeof loadToJudge>>, string>
    expect(
      tasks.map(({ name, sealed, rerun }) => [name, JSON.parse(sealed.text).counts, JSON.parse(rerun.text).counts])
    ).toEqual([['main', { '00': 51, '11': 49 }, { '00': 40, '11': 60 }]])
    expect(tasks[0]!.sealed.facts).toEqual({ hardware: false, local: true, completedAt: expect.any(String) })
    // Nothing is sealed yet.
    expect(margin).toBeNull()
    await db.transaction((tx) => recordJudged(tx, runId, 'enough'))
  })

  test('is not given when the evidence was changed in the database', async () => {
    const { capsule, runId } = await toBeJudged()
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update capsule_files set content = convert_to(replace(convert_from(content, 'UTF8'), '51', '61'), 'UTF8')
        where capsule_id = ${capsule} and name = 'tasks/main/result.json'`)
    })
    const why = await loadToJudge(db, runId)
    expect(why).toMatch(/does not match its digest/)
    expect(await db.transaction((tx) => recordJudged(tx, runId, why as string))).toBe(true)
    expect(await statusOf(runId)).toBe('failed')
  })

  test('about many circuits is listed with the first ones, and shown with all', async () => {
    const { capsule, runId } = await toBeJudged()
    const checks = Array.from({ length: 23 }, (_, place) => ({ name: `main /${place}` })) as Verification['checks']
    await db.transaction((tx) => recordJudged(tx, runId, { ...report, checks }))
    expect((await loadCapsuleRun(db, capsule, runId))!.verification).toEqual({ ...report, checks })
    const [listed] = (await listRuns(db, { capsuleId: capsule, limit: 9, offset: 0 })).rows
    expect(listed!.verification).toEqual({ ...report, checks: checks.slice(0, 20), checks_left_out: 3 })
  })

  test('is stored without the characters that the database cannot store', async () => {
    const { capsule, runId } = await toBeJudged()
    expect(await db.transaction((tx) => recordJudged(tx, runId, 'it said \u0000 and \ud800'))).toBe(true)
    expect(await loadCapsuleRun(db, capsule, runId)).toMatchObject({
      status: 'failed',
      reason: 'it said \ufffd and \ufffd'
    })
  })

  test('is given once, with one audit entry and one webhook event', async () => {
    const sealed = { ringKeyId: 'k', wrappedKey: Buffer.alloc(60), sealedSecret: Buffer.alloc(40) }
    await db
      .insert(webhooks)
      .values({ id: newId(), teamId, url: 'https://hooks.example.org', events: ['capsule.verified'], ...sealed })
    const { capsule, runId } = await toBeJudged()
    const given = await Promise.all(
      Array.from({ length: 5 }, () => db.transaction((tx) => recordJudged(tx, runId, report)))
    )
    expect(given.filter(Boolean)).toHaveLength(1)
    expect(await db.transaction((tx) => recordJudged(tx, runId, 'late'))).toBe(false)
    expect(await recordedAbout(runId)).toEqual({
      audit: ['capsule.run', 'capsule.verified'],
      webhooks: [
        {
          type: 'capsule.verified',
          timestamp: expect.any(String),
          data: expect.objectContaining({
            alert: false,
            capsule_id: capsule,
            capsule_run_id: runId,
            verdict: 'consistent'
          })
        }
      ]
    })
    expect(await loadCapsuleRun(db, capsule, runId)).toMatchObject({
      status: 'completed',
      verdict: 'consistent',
      reason: null
    })
  })
})
