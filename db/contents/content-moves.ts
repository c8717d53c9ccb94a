// How a content moves to the content store and back. Whatever stops a step, the content is whole in one place: its row loses it
// only after the object was read again, and an object that no row names is noted before it is written.
import { sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { Db, DbOrTx } from '../client.js'
import { contentKey, isKept, storeOf, wholeObject } from '../content-store.js'
import { newId } from '../ids.js'
import { sha256Of } from '../jobs/artifacts.js'
import { wholeOf, withContents } from '../stored-content.js'
import type { ContentRow } from './content-rows.js'

/** A program must know as many migrations to read a content that is not in its row. */
const MIGRATIONS_MIN = 29

/**
 * Writes the content to the store, and names the object in the row, which keeps its content for now.
 * @returns `false` when the row is gone or was moved meanwhile.
 * @throws Error when the content in the row is not the one that its digest names: it stays there.
 */
export async function copyToStore(db: Db, row: ContentRow): Promise<boolean> {
  const content = await wholeOf(db, row)
  if (!content) return false
  if (content.length !== row.sizeBytes || sha256Of(content) !== row.sha256)
    throw new Error('the content in the row is not the one that its digest names')
  const key = contentKey(row.sha256, newId())
  await db.execute(sql`insert into unnamed_objects (key) values (${key})`)
  await storeOf(db).write(key, content, row.keepUntil)
  // One that was not named within days is being removed, and a row must not name it then.
  const named = await db.execute(sql`
    with held as materialized (select key from unnamed_objects where key = ${key} and not removing for update),
      named as (update ${sql.identifier(row.table)} set object_key = held.key, object_at = clock_timestamp() from held
        where ${row.where} and object_key is null and content is not null returning object_key)
    delete from unnamed_objects using named where unnamed_objects.key = named.object_key returning key`)
  return named.length > 0
}

/**
 * Removes the content from its row, after the store has shown that it still has it. A lost or changed object loses its name,
 * and a later pass copies the content again.
 * @returns whether the store had it.
 */
export async function leaveToStore(db: Db, row: ContentRow): Promise<boolean> {
  const key = row.objectKey!
  if (!(await isKept(db, key, row.sizeBytes))) {
    await unname(db, row)
    return false
  }
  // From the first content on that is not in its row, programs that cannot read it are refused.
  await db.execute(sql`
    with refused as (update schema_compatibility set minimum_migrations = ${MIGRATIONS_MIN}::int
      where minimum_migrations < ${MIGRATIONS_MIN}::int)
    update ${sql.identifier(row.table)} set content = null
    where ${row.where} and object_key = ${key} and content is not null`)
  return true
}

/**
 * Brings a content back to its row, for good.
 * @throws ContentLost when the store does not have it.
 */
export async function bringBack(db: Db, row: ContentRow): Promise<void> {
  const key = row.objectKey!
  const [found] = await db.execute<{ absent: boolean }>(
    sql`select content is null as absent from ${sql.identifier(row.table)} where ${row.where} and object_key = ${key}`
  )
  if (!found) return
  if (found.absent) {
    const content = await wholeObject(db, key, row.sizeBytes)
    await withContents(db, [content], (within, [bytes]) =>
      within.execute(sql`update ${sql.identifier(row.table)} set content = ${bytes}
        where ${row.where} and object_key = ${key} and content is null`)
    )
  }
  await unname(db, row)
}

/** The row keeps its content, and no row names the object. */
const unname = (db: DbOrTx, row: ContentRow) =>
  db.execute(sql`
    with freed as (update ${sql.identifier(row.table)} set object_key = null, object_at = null
      where ${row.where} and object_key = ${row.objectKey} and content is not null returning 1)
    insert into unnamed_objects (key) select ${row.objectKey}::text from freed`)

/** Objects that no row has named for that long, marked as being removed: from then on, no row can name them. */
export async function takeUnnamed(db: Db, { seconds, max }: { seconds: number; max: number }): Promise<string[]> {
  const rows = await db.execute<{ key: string }>(sql`
    update unnamed_objects set removing = true
    where key in (select key from unnamed_objects where since <= clock_timestamp() - ${seconds}::int * interval '1 second'
      order by since limit ${max}::int)
    returning key`)
  return rows.map(({ key }) => key)
}

/**
 * Removes an object that `takeUnnamed` gave.
 * @throws Error when the store refuses; it is tried again after the time that `takeUnnamed` waits.
 */
export async function removeObject(db: Db, key: string): Promise<void> {
  try {
    await storeOf(db).remove(key)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    await db.execute(sql`update unnamed_objects set since = clock_timestamp() where key = ${key}`)
    throw error
  }
  await db.execute(sql`delete from unnamed_objects where key = ${key} and removing`)
}
