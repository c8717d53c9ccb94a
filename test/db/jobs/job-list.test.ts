// Lists that read a bounded number of jobs, and still reach every one.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { searchJobs } from '../../../db/admin/job-search.js'
import { listJobs, SEARCHED_MAX } from '../../../db/jobs/job-list.js'
import type { Caller } from '../../../db/teams/memberships.js'
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
}, 60_000)

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
  const plan = await db.execute(sql`explain select id from jobs
    where team_id = (select team_id from jobs where id = ${needle}) and right(id::text, 8) = ${needle.slice(-8)}`)
  expect(JSON.stringify(plan)).toContain('jobs_id_end_idx')
})

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
