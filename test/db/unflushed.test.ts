import { afterAll, expect, test } from '@jest/globals'
import { type SQL, sql } from 'drizzle-orm'
import { connect } from '../../db/client.js'
import { unflushed } from '../../db/unflushed.js'
import { eventually } from '../support/eventually.js'
import { startOwnPostgres } from '../support/postgres/own-postgres.js'

const FLUSHED_TRIES = 20

const own = await startOwnPostgres('unflushed', { durable: true })
const { db, close } = connect(own.url, { max: 1 })
afterAll(async () => {
  await close()
  await own.remove()
})

test('the commit of a hint does not wait for the disk, and the next statement of its connection does', async () => {
  await db.execute(sql`create table hints (number int)`)
  await db.execute(sql`insert into hints values (0)`)
  /** Whether Postgres has acknowledged the update before its log was on the disk. */
  const isPendingAfter = async (where: SQL): Promise<boolean> => {
    // The commit comes behind it in the log. Others, as the background writer, add to the log at any time.
    const [update] = await db.execute<{ written: string }>(
      sql`update hints set number = number + 1 where ${where} returning pg_current_wal_insert_lsn()::text as written`
    )
    const [row] = await db.execute<{ pending: boolean }>(
      sql`select pg_current_wal_flush_lsn() <= ${update!.written}::text::pg_lsn as pending`
    )
    return row!.pending
  }
  // Postgres writes its log in the background too, so one look proves nothing.
  await eventually(() => isPendingAfter(unflushed))
  for (let time = 0; time < FLUSHED_TRIES; time++) expect(await isPendingAfter(sql`true`)).toBe(false)
})
