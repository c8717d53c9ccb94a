// Lists that read a bounded number of jobs, and still reach every one.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type SQL, sql } from 'drizzle-orm'
import { searchJobs } from '../../../db/admin/job-search.js'
import { anyTextOf } from '../../../db/client.js'
import { endsWith, firstIdAt, spanOf, spansSince } from '../../../db/ids.js'
import { listJobs, SEARCHED_MAX } from '../../../db/jobs/job-list.js'
import { jobs } from '../../../db/tables/jobs.js'
import type { Caller } from '../../../db/teams/memberships.js'
import { TOTAL_MAX } from '../../../domain/json/page.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const OLDER = 200

const database = await createTestDatabase('job_list')
const { db } = database
afterAll(() => database.drop())

let caller: Caller
let needle: string
let label: string
let first: string

const page = { limit: 10, offset: 0 }
const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000)
const rename = (id: string, name: string) => db.execute(sql`update jobs set name = ${name} where id = ${id}`)

/** Copies of a job, with current ids. */
const copies = (id: string, count: number) =>
  db.execute(sql`
    insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', uuid_of_now(n)))).*
    from jobs j, generate_series(1, ${count}::int) n where j.id = ${id}`)

beforeAll(async () => {
  await db.execute(sql`create function uuid_of_now(n bigint) returns uuid language sql as $$
    select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid $$`)
  const ada = await addPerson(db)
  caller = { ...ada, key: null }
  const teams = [await addTeam(db, ada), await addTeam(db, ada)]
  const add = (at: number) => addJob(db, ada, { submission: { teamId: teams[at]! } })
  first = await add(0)
  needle = await add(0)
  await rename(needle, 'a needle')
  await copies(first, OLDER)
  label = await add(1)
  await db.execute(sql`update jobs set labels = '["Needle"]' where id = ${label}`)
  await copies(first, SEARCHED_MAX)
}, 120_000)

describe('a search for text', () => {
  test('reads a bounded number of jobs per page and returns where to continue, until the last', async () => {
    const found: string[] = []
    const looks: object[] = []
    let before: string | undefined
    do {
      const { rows, next, total, unfinished } = await listJobs(db, caller, {
        ...page,
        text: 'needle',
        ...(before && { before })
      })
      found.push(...rows.map(({ id }) => id))
      looks.push({ total, unfinished })
      before = next ?? undefined
    } while (before)
    expect(found).toEqual([label, needle])
    expect(looks).toEqual([
      { total: 0, unfinished: true },
      { total: 2, unfinished: false }
    ])
  })

  test('continues after a full page of matches', async () => {
    const all = { ...page, limit: 100, text: first.slice(0, 2) }
    const { rows, next } = await listJobs(db, caller, all)
    expect(rows).toHaveLength(100)
    const second = await listJobs(db, caller, { ...all, before: next! })
    expect(second.rows[0]!.id < rows.at(-1)!.id).toBe(true)
    expect(new Set([...rows, ...second.rows].map(({ id }) => id)).size).toBe(200)
  })

  test('for a complete id finds the job wherever it is, once', async () => {
    const { rows, next } = await listJobs(db, caller, { ...page, text: needle.toUpperCase() })
    expect(rows.map(({ id }) => id)).toEqual([needle])
    const later = await listJobs(db, caller, { ...page, text: needle, before: next! })
    expect(later).toMatchObject({ rows: [], next: null })
  })

  test('never finds a job of another team', async () => {
    const eve = { ...(await addPerson(db)), key: null }
    for (const text of ['needle', needle])
      expect(await listJobs(db, eve, { ...page, text })).toMatchObject({ rows: [], next: null, total: 0 })
  })

  test('of an administrator reports that there are older jobs', async () => {
    expect(await searchJobs(db, { ...page, q: 'needle' })).toMatchObject({ rows: [], total: 0, unfinished: true })
    expect(await searchJobs(db, { ...page, q: needle })).toMatchObject({ total: 1, unfinished: false })
    expect(await searchJobs(db, { ...page })).toMatchObject({ total: SEARCHED_MAX + OLDER + 3, unfinished: false })
    const { rows, total } = await searchJobs(db, { limit: 2, offset: SEARCHED_MAX + OLDER + 1, q: caller.userId })
    expect([rows.map(({ id }) => id), total]).toEqual([[needle, first], SEARCHED_MAX + OLDER + 3])
  })
})

test('the end of an id finds jobs of the caller alone, by an index', async () => {
  const eve = { ...(await addPerson(db)), key: null }
  for (const idEnd of [needle.slice(-8), needle.slice(-12), needle.slice(-8).toUpperCase()]) {
    const { rows, total } = await listJobs(db, caller, { ...page, idEnd })
    expect([rows.map(({ id }) => id), total]).toEqual([[needle], 1])
    expect(await listJobs(db, eve, { ...page, idEnd })).toMatchObject({ rows: [], total: 0 })
  }
  const other = `${needle.at(-12) === '0' ? '1' : '0'}${needle.slice(-11)}`
  expect(await listJobs(db, caller, { ...page, idEnd: other })).toMatchObject({ rows: [], total: 0 })
  // As autovacuum does.
  await db.execute(sql`analyze jobs`)
  const plan = await db.execute(sql`explain select id from jobs
    where team_id = (select team_id from jobs where id = ${label})
      and ${anyTextOf(spanOf(jobs.id), spansSince(firstIdAt(daysFromNow(-365))))} and ${endsWith(jobs.id, label.slice(-8))}`)
  expect(JSON.stringify(plan)).toContain('jobs_span_end_idx')
})

test('the end of an id finds a job of any age, and one of a clock that is a day ahead', async () => {
  const ada = { ...(await addPerson(db)), key: null }
  const teamId = await addTeam(db, ada)
  for (const day of [-3_650, -400, -3, 1]) {
    const source = await addJob(db, ada, { submission: { teamId } })
    const id = firstIdAt(daysFromNow(day)).slice(0, 24) + source.slice(-12)
    await db.execute(
      sql`insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', ${id}::text))).* from jobs j where j.id = ${source}`
    )
    await db.execute(sql`delete from jobs where id = ${source}`)
    expect((await listJobs(db, ada, { ...page, idEnd: id.slice(-8) })).rows.map((row) => row.id)).toEqual([id])
  }
})

describe('a list of several statuses', () => {
  const statuses = ['failed', 'running', 'completed'] as const
  /** How many jobs have each. */
  const counts = { failed: 30, running: 3, completed: 300 }
  const all = statuses.reduce((sum, status) => sum + counts[status], 0)

  beforeAll(async () => {
    for (const [at, status] of statuses.entries())
      await db.execute(sql`
        insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', uuid_of_now(${at}::int * 100000 + n), 'status', ${status}::text))).*
        from jobs j, generate_series(1, ${counts[status]}::int) n where j.id = ${first}`)
    await db.execute(sql`analyze jobs`)
  })
  afterAll(() => db.execute(sql`delete from jobs where status in ('failed', 'running', 'completed')`))

  test('has the jobs in any of them, newest first, each once', async () => {
    const { rows, total } = await listJobs(db, caller, {
      ...page,
      limit: 100,
      statuses: ['running', 'failed', 'running']
    })
    expect([total, rows.length]).toEqual([33, 33])
    expect(rows.map(({ id }) => id)).toEqual(
      rows
        .map(({ id }) => id)
        .sort()
        .reverse()
    )
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['running', 'failed']))
    expect((await listJobs(db, caller, { ...page, statuses })).total).toBe(all)
  })

  test('reaches every job by the cursor', async () => {
    const ids: string[] = []
    let before: string | undefined
    do {
      const { rows, next } = await listJobs(db, caller, { ...page, limit: 100, statuses, ...(before && { before }) })
      ids.push(...rows.map(({ id }) => id))
      before = next ?? undefined
    } while (before)
    expect([ids.length, new Set(ids).size]).toEqual([all, all])
  })

  test('finds text and a whole id among them alone', async () => {
    const { rows } = await listJobs(db, caller, { ...page, statuses, text: needle })
    expect(rows).toEqual([])
    const found = await listJobs(db, caller, { ...page, statuses: ['pending', 'failed'], text: needle })
    expect(found.rows.map(({ id }) => id)).toEqual([needle])
    expect((await listJobs(db, caller, { ...page, statuses, text: 'needle' })).total).toBe(0)
  })

  test('reads a page of each status from its index, not all of its jobs', async () => {
    const asked: SQL[] = []
    const watched = {
      execute: (query: SQL) => {
        asked.push(query)
        return db.execute(query)
      },
      select: db.select.bind(db)
    } as unknown as typeof db
    await listJobs(watched, caller, { ...page, statuses })
    const [row] = await db.execute(sql`explain (analyze, format json) ${asked[0]}`)
    const scans = nodesOf((row!['QUERY PLAN'] as { Plan: PlanNode }[])[0]!.Plan).filter(
      (node) => node['Relation Name'] === 'jobs'
    )
    const read = scans.map((node) => node['Actual Rows'] * node['Actual Loops'] + (node['Rows Removed by Filter'] ?? 0))
    // Of each status in each team, one more than the page has.
    expect(scans.length).toBeGreaterThanOrEqual(statuses.length)
    expect(Math.max(...read)).toBeLessThanOrEqual(2 * (page.limit + 1))
  })
})

interface PlanNode {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

test("a list of one's own jobs has none of another member", async () => {
  const bob = { ...(await addPerson(db)), key: null }
  const [row] = await db.execute<{ team: string }>(sql`select team_id as team from jobs where id = ${needle}`)
  const { team } = row!
  await db.execute(sql`insert into members (team_id, user_id, role) values (${team}, ${bob.userId}, 'member')`)
  expect(await listJobs(db, bob, { ...page, mine: true })).toMatchObject({ rows: [], total: 0 })
  const own = await addJob(db, bob, { submission: { teamId: team } })
  const { rows, total } = await listJobs(db, bob, { ...page, mine: true })
  expect([rows.map(({ id }) => id), total]).toEqual([[own], 1])
  await db.execute(sql`delete from jobs where id = ${own}`)
})

test('a list of several teams is sorted by time across pages', async () => {
  const ids: string[] = []
  let before: string | undefined
  do {
    const { rows, next, total } = await listJobs(db, caller, { limit: 100, offset: 0, ...(before && { before }) })
    expect(total).toBe(SEARCHED_MAX + OLDER + 3)
    ids.push(...rows.map(({ id }) => id))
    before = next ?? undefined
  } while (before)
  expect(ids).toEqual([...ids].sort().reverse())
  expect(ids).toContain(label)
  expect(new Set(ids).size).toBe(SEARCHED_MAX + OLDER + 3)
}, 60_000)

test("a filter by time uses the clock of the database, although ids have the API's", async () => {
  // Created by an API whose clock is eleven hours ahead of the database's.
  const at = new Date('2026-03-01T00:00:00Z')
  const [row] = await db.execute<{ id: string }>(sql`
    insert into jobs select (jsonb_populate_record(j, jsonb_build_object(
      'id', (substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7000-8000-000000000000'), 'created_at', ${at.toISOString()}::text))).*
    from jobs j, lpad(to_hex(${at.getTime() + 11 * 3_600_000}::bigint), 12, '0') h where j.id = ${first} returning id`)
  const around = { createdAfter: new Date(at.getTime() - 1), createdBefore: new Date(at.getTime() + 1) }
  const { rows, total } = await listJobs(db, caller, { ...page, ...around })
  expect([rows.map(({ id }) => id), total]).toEqual([[row!.id], 1])
})

describe('a list of more jobs than are counted', () => {
  const MANY = TOTAL_MAX + 2_000
  const OF_BACKEND = TOTAL_MAX + 500
  let zoe: Caller
  const about = (count: number) => ({ least: count * 0.9, most: count * 1.1 })
  const within = (estimate: number | null, { least, most }: ReturnType<typeof about>) => {
    expect(estimate).toBeGreaterThan(least)
    expect(estimate).toBeLessThan(most)
  }

  beforeAll(async () => {
    const person = await addPerson(db)
    zoe = { ...person, key: null }
    await copies(await addJob(db, person, { submission: { teamId: await addTeam(db, person) } }), MANY - 1)
    await db.execute(sql`update jobs set backend = 'aer-statevector' where id in
      (select id from jobs where user_id = ${person.userId} limit ${OF_BACKEND}::int)`)
    await db.execute(sql`analyze jobs`)
  }, 180_000)

  test('states about how many there are, of each filter', async () => {
    const all = await listJobs(db, zoe, page)
    expect(all.total).toBe(TOTAL_MAX + 1)
    within(all.estimate, about(MANY))
    const pending = await listJobs(db, zoe, { ...page, statuses: ['pending', 'failed'] })
    within(pending.estimate, about(MANY))
    const ofBackend = await listJobs(db, zoe, { ...page, backend: 'aer-statevector' })
    expect(ofBackend.total).toBe(TOTAL_MAX + 1)
    expect(ofBackend.estimate).toBeLessThan(MANY)
  })

  test('states so for an administrator, too', async () => {
    const [counted] = await db.execute<{ jobs: number }>(sql`select count(*)::int as jobs from jobs`)
    within((await searchJobs(db, page)).estimate, about(counted!.jobs))
  })

  test('states none where all are counted', async () => {
    expect(await listJobs(db, zoe, { ...page, statuses: ['failed'] })).toMatchObject({ total: 0, estimate: null })
    expect(await listJobs(db, caller, page)).toMatchObject({ estimate: null })
    expect(await searchJobs(db, { ...page, q: needle })).toMatchObject({ estimate: null })
  })
})
