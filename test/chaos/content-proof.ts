// The invariants of contents that move to a content store.
import { sql } from 'drizzle-orm'
import type { Connection } from '../../db/client.js'
import { type ContentRow, contentTables, namedContents } from '../../db/contents/content-rows.js'
import { sha256Of } from '../../db/jobs/artifacts.js'
import { wholeOf } from '../../db/stored-content.js'
import type { S3Server } from '../support/content-store/s3-server.js'
import { eventually } from '../support/eventually.js'
import type { Findings } from './job-proof.js'
import { storedKeys } from './store.js'

const PAGE = 100

/**
 * Each content is whole where its row says, and each object belongs to a content or waits for its removal.
 * @param store `null`: all contents are in rows.
 */
export async function proveContents(connection: Connection, store: S3Server | null, findings: Findings): Promise<void> {
  const { db } = connection
  for (const table of contentTables) {
    const wrong = await db.execute<{ job: string }>(sql`
      select ${sql.raw(table === 'capsule_files' ? 'capsule_id' : 'job_id')}::text as job from ${sql.identifier(table)}
      where content is not null and encode(sha256(content), 'hex') <> sha256`)
    findings['lost contents'].push(
      ...wrong.map(({ job }) => `${table} of ${job}: another content than its digest says`)
    )
    if (store) await readMoved(connection, table, findings)
  }
  if (store) await checkNames(connection, store, findings)
}

async function readMoved({ db }: Connection, table: ContentRow['table'], findings: Findings): Promise<void> {
  let after: ContentRow | null = null
  do {
    const rows: ContentRow[] = await namedContents(db, table, { after, max: PAGE })
    for (const row of rows) {
      const content = await wholeOf(db, row).catch((error: Error) => error)
      if (content instanceof Buffer && sha256Of(content) === row.sha256) continue
      const why = content instanceof Error ? content.message : 'it is gone or has other bytes'
      findings['lost contents'].push(`${row.name}: ${why}`)
    }
    after = rows.at(-1) ?? null
  } while (after)
}

/** Workers still move contents, so bucket and rows are compared until they agree. */
async function checkNames({ db }: Connection, store: S3Server, findings: Findings): Promise<void> {
  const differences = async (): Promise<string[]> => {
    const stored = new Set(await storedKeys(store))
    const rows = await db.execute<{ key: string; named: boolean }>(sql`
      ${sql.join(
        contentTables.map(
          (table) =>
            sql`select object_key as key, true as named from ${sql.identifier(table)} where object_key is not null`
        ),
        sql` union all `
      )}
      union all select key, false from unnamed_objects`)
    const known = new Set(rows.map(({ key }) => key))
    return [
      ...rows.filter(({ key, named }) => named && !stored.has(key)).map(({ key }) => `${key} is named and not stored`),
      ...[...stored].filter((key) => !known.has(key)).map((key) => `${key} is stored and not named`)
    ]
  }
  let last: string[] = []
  const agree = async () => {
    last = await differences()
    return last.length === 0
  }
  await eventually(agree, { timeoutMs: 180_000, everyMs: 1_000 }).catch(() => {})
  findings['objects without a content'].push(...last)
}

/** How many contents are in the store alone. */
export async function movedContents({ db }: Connection): Promise<number> {
  const [row] = await db.execute<{ moved: number }>(sql`select sum(moved)::int as moved from (
    ${sql.join(
      contentTables.map((table) => sql`select count(*) as moved from ${sql.identifier(table)} where content is null`),
      sql` union all `
    )}) counts`)
  return row!.moved
}
