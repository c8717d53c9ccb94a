// Large contents are written and read in slices: every byte arrives, no statement carries much, and nothing stays behind.
import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect } from '../../db/client.js'
import { SENT_BYTES, sendContent, WHOLE_BYTES_MAX, withContents } from '../../db/stored-content.js'
import { eventually } from '../support/eventually.js'
import { createTestDatabase } from '../support/stack/database.js'

const database = await createTestDatabase('stored_content', { max: 1 })
const { db } = database
afterAll(() => database.drop())
await db.execute(sql`create table kept (at int primary key, content bytea not null)`)

const large = WHOLE_BYTES_MAX + SENT_BYTES
const sizes = [0, 1, WHOLE_BYTES_MAX, WHOLE_BYTES_MAX + 1, large, large - 1]

const keep = (contents: readonly Buffer[]) =>
  withContents(db, contents, async (within, bytes) => {
    for (const [at, content] of bytes.entries()) await within.execute(sql`insert into kept values (${at}, ${content})`)
  })

const slicesLeft = async () => {
  const [row] = await db.execute<{ count: number }>(sql`select count(*)::int as count from pg_temp.sent_slices`)
  return row!.count
}

test('contents of any size arrive byte for byte, and leave no slices behind', async () => {
  for (const contents of [sizes.map((size) => randomBytes(size)), [randomBytes(100)]]) {
    await db.execute(sql`truncate kept`)
    await keep(contents)
    const rows = await db.execute<{ content: Buffer }>(sql`select content from kept order by at`)
    expect(rows.map(({ content }, index) => content.equals(contents[index]!))).toEqual(contents.map(() => true))
  }
  expect(await slicesLeft()).toBe(0)
})

test('a write that fails leaves no slices and no row, and the next one on its connection succeeds', async () => {
  await db.execute(sql`truncate kept`)
  const content = randomBytes(large)
  const failing = withContents(db, [content], async (within, [sent]) => {
    await within.execute(sql`insert into kept values (1, ${sent})`)
    throw new Error('the write failed')
  })
  await expect(failing).rejects.toThrow('the write failed')
  expect(await db.execute(sql`select 1 from kept`)).toHaveLength(0)
  await keep([content])
  expect(await slicesLeft()).toBe(0)
})

test('no statement carries more of a large content than one slice', async () => {
  const content = randomBytes(8 * SENT_BYTES)
  await db.transaction(async (tx) => {
    await sendContent(tx, content)
    const [row] = await tx.execute<{ most: number; slices: number }>(
      sql`select max(length(slice)) as most, count(*)::int as slices from pg_temp.sent_slices`
    )
    expect(row).toEqual({ most: SENT_BYTES, slices: 8 })
  })
})

test('large writes of a process use one connection, one after the other', async () => {
  const pool = connect(database.url, { max: 4 })
  try {
    let under = 0
    let most = 0
    let letGo = () => {}
    const gate = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const writes = Array.from({ length: 4 }, () =>
      withContents(pool.db, [randomBytes(large)], async () => {
        most = Math.max(most, ++under)
        await gate
        under--
      })
    )
    await eventually(() => expect(under).toBe(1))
    // A small write needs no turn.
    await withContents(pool.db, [randomBytes(10)], (within, [bytes]) =>
      within.execute(sql`select length(${bytes}) as size`)
    )
    letGo()
    await Promise.all(writes)
    expect(most).toBe(1)
  } finally {
    await pool.close()
  }
})
