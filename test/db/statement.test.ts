// Statements whose text is made once and used again with other parameters and on other connections.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { newId } from '../../db/ids.js'
import { asIn, type Places, perShape, query, statement } from '../../db/statement.js'
import { backends } from '../../db/tables/backends.js'
import { jobs } from '../../db/tables/jobs.js'
import { addJob, addPerson } from '../support/jobs/rows.js'
import { createTestDatabase } from '../support/stack/database.js'

const database = await createTestDatabase('statement', { max: 4 })
const { db } = database
afterAll(() => database.drop())

let jobId: string
beforeAll(async () => {
  jobId = await addJob(db, await addPerson(db))
})

type Renamed = Pick<typeof jobs.$inferSelect, 'id' | 'name' | 'notBefore' | 'choice'>

const rename = query((given: Places<Renamed>, on) =>
  on
    .update(jobs)
    .set({
      name: sql`${given.name}`,
      notBefore: asIn(jobs.notBefore, given.notBefore),
      choice: asIn(jobs.choice, given.choice)
    })
    .where(eq(jobs.id, given.id))
    .returning({ name: jobs.name, notBefore: jobs.notBefore, choiceIsNull: sql<boolean>`${jobs.choice} is null` })
)

const unset = { name: null, notBefore: null, choice: null }

test('null is NULL in every column, also where the column is encoded', async () => {
  expect(await rename(db, { id: jobId, ...unset })).toEqual([{ name: null, notBefore: null, choiceIsNull: true }])
})

test('a value is encoded as its column needs it, and decoded in the response', async () => {
  const notBefore = new Date('2031-01-02T03:04:05.678Z')
  const [row] = await rename(db, { ...unset, id: jobId, name: "Bell's pair", notBefore })
  expect(row).toMatchObject({ name: "Bell's pair", notBefore })
})

test('a statement belongs to the transaction that it is called with, whichever made its text', async () => {
  const undo = new Error('undone')
  const renamed = db.transaction(async (tx) => {
    await rename(tx, { ...unset, id: jobId, name: 'of the transaction' })
    const elsewhere = await db.select({ name: jobs.name }).from(jobs).where(eq(jobs.id, jobId))
    expect(elsewhere).not.toEqual([{ name: 'of the transaction' }])
    throw undo
  })
  await expect(renamed).rejects.toBe(undo)
  const after = await db.select({ name: jobs.name }).from(jobs).where(eq(jobs.id, jobId))
  expect(after).not.toEqual([{ name: 'of the transaction' }])
})

const doubled = statement<{ value: number }, { twice: number }>(({ value }) => sql`select ${value}::int * 2 as twice`)

test('calls at the same time keep their own parameters', async () => {
  const values = Array.from({ length: 200 }, (_, at) => at)
  const rows = await Promise.all(values.map((value) => doubled(db, { value })))
  expect(rows.map(([row]) => row!.twice)).toEqual(values.map((value) => value * 2))
})

test('the text is made once for each shape', async () => {
  const made: number[] = []
  const counted = perShape((columns: number) =>
    statement<{ from: number }, Record<string, number>>(({ from }) => {
      made.push(columns)
      const list = Array.from(
        { length: columns },
        (_, at) => sql`${from}::int + ${at}::int as ${sql.identifier(`c${at}`)}`
      )
      return sql`select ${sql.join(list, sql`, `)}`
    })
  )
  expect(await counted(1)(db, { from: 5 })).toEqual([{ c0: 5 }])
  expect(await counted(3)(db, { from: 7 })).toEqual([{ c0: 7, c1: 8, c2: 9 }])
  expect(await counted(1)(db, { from: 9 })).toEqual([{ c0: 9 }])
  expect(made).toEqual([1, 3])
})

const backendOfJob = query(({ id }: Places<{ id: string }>, on) =>
  on
    .select({ name: jobs.name, backend: { slug: backends.slug, engine: backends.engine } })
    .from(jobs)
    .leftJoin(backends, eq(backends.slug, jobs.backend))
    .where(eq(jobs.id, id))
)

test('what a join has not found is null as a whole, as without the prepared text', async () => {
  const missing = await addJob(db, await addPerson(db))
  await db.update(jobs).set({ backend: 'gone' }).where(eq(jobs.id, missing))
  expect(await backendOfJob(db, { id: missing })).toMatchObject([{ backend: null }])
  expect(await backendOfJob(db, { id: jobId })).toMatchObject([{ backend: { slug: expect.any(String) } }])
  expect(await backendOfJob(db, { id: newId() })).toEqual([])
})

test('a failure names the text of the statement and none of its parameters', async () => {
  const failing = statement<{ secret: string }, { at: number }>(({ secret }) => sql`select ${secret}::text::int as at`)
  const error = await failing(db, { secret: 'a password' }).catch((thrown: Error) => thrown)
  expect(String((error as Error).message)).toContain('::text::int')
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('a password')
})
