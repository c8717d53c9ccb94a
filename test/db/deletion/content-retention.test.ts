// Results, values of tasks and output of jobs are removed when their time is over, and nothing else of a job.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { deleteCapsule } from '../../../db/capsules/capsule-changes.js'
import { createCapsuleOfJob } from '../../../db/capsules/capsule-of-job.js'
import { lockCapsule } from '../../../db/capsules/capsules.js'
import { removedOf } from '../../../db/contents/removed-contents.js'
import { limitedContents, removeDue } from '../../../db/deletion/content-retention.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { resultContent } from '../../../db/jobs/attempts.js'
import { eventsAfter } from '../../../db/jobs/job-events.js'
import { storageMismatches } from '../../../db/proofs/storage-proof.js'
import { setContentRetention } from '../../../db/teams/content-retention.js'
import { storageOf } from '../../../db/teams/team-storage.js'
import type { ContentKind, KeptDays } from '../../../domain/teams/content-retention.js'
import { addFinishedJob } from '../../support/capsules/capsule-rows.js'
import { addJob, addPerson, addTeam, ageJob, everythingAbout } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('content_retention')
const { db } = database
afterAll(() => database.drop())
const ada = await addPerson(db)
const nowhere: KeptDays = { results: null, task_values: null, output: null }

let teamId: string
beforeEach(async () => {
  teamId = await addTeam(db, ada)
})

const submission = () => ({ submission: { teamId } })
const finished = () => addFinishedJob(db, ada, submission())

const old = async (days: number): Promise<string> => ageJob(db, await finished(), days)

/** What a script leaves besides its result. */
const addTaskOf = (id: string) =>
  db.execute(sql`with task as (insert into job_tasks (job_id, key, ask, position, name, func_name, depends_on, level, retries,
      timeout_seconds, state, function_sha256, arguments_sha256, stdout)
      values (${id}, 'task_0001', 1, 0, 'f', 'f', '{}', 0, 0, 60, 'completed', 'd', 'd', 'printed by a task')),
    printed as (insert into job_output values (${id}, 1, 'printed', 0))
    insert into task_values (job_id, sha256, size_bytes, content) values (${id}, 'd', 10, '0123456789')`)

/** One pass over all teams, as the sweep makes it. @returns of how many jobs contents were removed. */
async function pass(platform: KeptDays = nowhere): Promise<number> {
  let [removed, team]: [number, string | null] = [0, null]
  do {
    const page = await limitedContents(db, platform, { after: team, max: 2 })
    team = page.last
    for (const content of page.contents)
      for (let [now, after]: [typeof content | null, string | null] = [content, content.mark]; now; ) {
        const done = await removeDue(db, now, after)
        removed += done.removed
        now = done.last === null ? null : { ...now, mark: done.mark }
        after = done.last
      }
  } while (team !== null)
  return removed
}

async function keepFor(days: Partial<KeptDays>): Promise<void> {
  await db.transaction((tx) => setContentRetention(tx, teamId, days))
  await db.execute(
    sql`update content_retention set changed_at = now() - interval '24 hours 1 second' where team_id = ${teamId}`
  )
}

const count = async (table: string, id: string): Promise<number> => {
  const [row] = await db.execute<{ rows: number }>(
    sql`select count(*)::int as rows from ${sql.identifier(table)} where job_id = ${id}`
  )
  return row!.rows
}
const kindsRemoved = async (id: string) => Object.keys(await removedOf(db, id)).sort()

test('what is due is removed by kind, the record of the job stays, and storage is free to the byte', async () => {
  const [due, young] = [await old(30), await old(29)]
  for (const id of [due, young]) await addTaskOf(id)
  const [before, youngBefore] = [await everythingAbout(db, due), await everythingAbout(db, young)]
  const stored = (await storageOf(db, teamId)).used
  await keepFor({ results: 30 })
  expect(await pass()).toBe(1)
  expect([await count('artifacts', due), await count('task_values', due), await count('job_output', due)]).toEqual([
    0, 1, 1
  ])
  expect(await kindsRemoved(due)).toEqual(['results'])
  await keepFor({ task_values: 30, output: 30 })
  expect(await pass()).toBe(2)
  expect([await count('task_values', due), await count('job_output', due)]).toEqual([0, 0])
  expect(await kindsRemoved(due)).toEqual(['output', 'results', 'task_values'])
  expect((await everythingAbout(db, due)) as { job: unknown }).toMatchObject({
    job: (before as { job: unknown }).job as object
  })
  expect(await eventsAfter(db, due, 0)).toHaveLength(await count('job_events', due))
  expect(await everythingAbout(db, young)).toEqual(youngBefore)
  expect(await kindsRemoved(young)).toEqual([])
  expect((await storageOf(db, teamId)).used).toBeLessThan(stored)
  expect(await storageMismatches(db)).toEqual([])
  expect(await pass()).toBe(0)
})

describe('whose number holds:', () => {
  const kept = async (id: string, kind: ContentKind = 'results') => !(await kindsRemoved(id)).includes(kind)

  test("the platform's holds for every team; the shorter of both holds", async () => {
    const [other, mine] = [await old(40), await old(20)]
    await pass({ ...nowhere, results: 30 })
    expect([await kept(mine), await kept(other)]).toEqual([true, false])
    await keepFor({ results: 20 })
    await pass({ ...nowhere, results: 30 })
    expect(await kept(mine)).toBe(false)
  })

  test('a team cannot keep contents for longer than the platform', async () => {
    const id = await old(31)
    await keepFor({ results: 300 })
    await pass({ ...nowhere, results: 30 })
    expect(await kept(id)).toBe(false)
  })

  test('a number that was set within the last day removes nothing yet, and one that was taken back never does', async () => {
    const id = await old(20)
    await db.transaction((tx) => setContentRetention(tx, teamId, { results: 1 }))
    expect(await pass()).toBe(0)
    await db.transaction((tx) => setContentRetention(tx, teamId, { results: null }))
    expect(await pass()).toBe(0)
    await keepFor({ results: 1 })
    // The same number again is no change.
    await db.transaction((tx) => setContentRetention(tx, teamId, { results: 1 }))
    expect(await pass()).toBe(1)
    expect(await kept(id)).toBe(false)
  })

  test('teams with a number are found behind pages of teams without', async () => {
    for (let other = 0; other < 5; other++) {
      await addTeam(db, ada)
      teamId = await addTeam(db, ada)
      await db.transaction((tx) => setContentRetention(tx, teamId, { results: 1 }))
    }
    teamId = await addTeam(db, ada)
    const id = await old(2)
    await keepFor({ results: 1 })
    await pass()
    expect(await kept(id)).toBe(false)
  })
})

describe('a job keeps its contents', () => {
  test('while it has not finished, and the jobs after it lose theirs all the same', async () => {
    const begun = await addJob(db, ada, submission())
    await beginJob(db, begun, { generation: 1 })
    await addTaskOf(begun)
    const open = await ageJob(db, begun, 40)
    const after = await old(35)
    await keepFor({ task_values: 30, results: 30 })
    await pass()
    expect([await count('task_values', open), await kindsRemoved(after)]).toEqual([1, ['results']])
    await db.execute(
      sql`update jobs set status = 'failed', completed_at = now() - interval '31 days' where id = ${open}`
    )
    await pass()
    expect(await count('task_values', open)).toBe(0)
  })

  test('as long as a capsule was made of it, and loses them when the capsule is deleted', async () => {
    const [first, id, last] = [await old(40), await old(40), await old(40)]
    const { id: capsuleId } = await db.transaction((tx) =>
      createCapsuleOfJob(tx, { jobId: id, teamId, ownerId: ada.userId, name: null }, { actor: `user:${ada.userId}` })
    )
    await keepFor({ results: 30 })
    expect(await pass()).toBe(2)
    expect([await kindsRemoved(first), await kindsRemoved(id), await kindsRemoved(last)]).toEqual([
      ['results'],
      [],
      ['results']
    ])
    await db.transaction(async (tx) => {
      const row = await lockCapsule(tx, capsuleId)
      await deleteCapsule(tx, row!, `user:${ada.userId}`)
    })
    expect(await pass()).toBe(1)
    expect(await kindsRemoved(id)).toEqual(['results'])
  })
})

test('a capsule is refused of a job whose result was removed', async () => {
  const id = await old(40)
  await keepFor({ results: 30 })
  await pass()
  const made = db.transaction((tx) =>
    createCapsuleOfJob(tx, { jobId: id, teamId, ownerId: ada.userId, name: null }, { actor: `user:${ada.userId}` })
  )
  await expect(made).rejects.toMatchObject({ code: 'contents_removed' })
  const [row] = await db.execute<{ sha256: string }>(sql`select result_sha256 as sha256 from jobs where id = ${id}`)
  expect(await resultContent(db, id, row!.sha256)).toBeNull()
})

test('a job whose id is higher than that of one which is due later does not hide it', async () => {
  const later = await old(30)
  const sooner = await old(30)
  const created = (id: string, ago: string) =>
    db.execute(sql`update jobs set created_at = now() - ${ago}::interval where id = ${id}`)
  await created(later, '29 days 23 hours 55 minutes')
  await created(sooner, '30 days 5 minutes')
  await keepFor({ results: 30 })
  await pass()
  expect([await kindsRemoved(later), await kindsRemoved(sooner)]).toEqual([[], ['results']])
  await created(later, '30 days 2 hours')
  await pass()
  expect(await kindsRemoved(later)).toEqual(['results'])
})

test('more jobs than one look reads are all seen, and the next pass begins behind them', async () => {
  const id = await old(40)
  await db.execute(sql`insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id',
      lpad(to_hex((extract(epoch from now() - interval '41 days') * 1000)::bigint), 12, '0') || '7'
        || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15)))).* from jobs j
    cross join generate_series(1, 450) n where j.id = ${id}`)
  await db.execute(sql`insert into artifacts (job_id, name, sha256, size_bytes, media_type, content)
    select j.id, 'result.json', 'd', 2, 'application/json', '{}' from jobs j where j.team_id = ${teamId} and j.id <> ${id}`)
  await db.execute(sql`update jobs set created_at = now() - interval '41 days', completed_at = now() - interval '40 days'
    where team_id = ${teamId}`)
  await keepFor({ results: 30 })
  expect(await pass()).toBe(451)
  const { contents } = await limitedContents(db, nowhere, { after: null, max: 100 })
  const content = contents.find((one) => one.teamId === teamId)!
  expect(content.mark).not.toBeNull()
  expect(await removeDue(db, content, content.mark)).toEqual({ removed: 0, last: null, mark: content.mark })
})
