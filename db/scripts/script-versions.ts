// The versions of a script that a caller sees: members of its team see all, everyone else the one that is published.
// Templates show all of theirs.
import { and, count, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Page } from '../../domain/json/page.js'
import type { DbOrTx } from '../client.js'
import { scripts, scriptVersions } from '../tables/scripts.js'
import { type Caller, teamIdsOf } from '../teams/memberships.js'

const itemColumns = {
  version: scriptVersions.version,
  sourceSha256: scriptVersions.sourceSha256,
  framework: scriptVersions.framework,
  createdBy: scriptVersions.createdBy,
  createdAt: scriptVersions.createdAt,
  bytes: sql<number>`octet_length(${scriptVersions.content})`
}

export interface VersionItem {
  version: number
  sourceSha256: string
  framework: string
  createdBy: string | null
  createdAt: Date
  /** Of the source as UTF-8. */
  bytes: number
}

type VersionRow = typeof scriptVersions.$inferSelect

/** @param id of a script that the caller sees. */
const isShown = (db: DbOrTx, caller: Caller, id: string): SQL =>
  and(
    eq(scriptVersions.scriptId, id),
    sql`(${scriptVersions.version} = ${scripts.version} or ${scripts.teamId} is null
      or ${scripts.teamId} = any(array(${teamIdsOf(db, caller)})))`
  )!

/** Newest first. */
export async function listVersions(
  db: DbOrTx,
  caller: Caller,
  id: string,
  { limit, offset }: Page
): Promise<{ rows: VersionItem[]; total: number }> {
  const [rows, [counted]] = await Promise.all([
    db
      .select(itemColumns)
      .from(scriptVersions)
      .innerJoin(scripts, eq(scripts.id, scriptVersions.scriptId))
      .where(isShown(db, caller, id))
      .orderBy(desc(scriptVersions.version))
      .limit(limit)
      .offset(offset),
    db
      .select({ total: count() })
      .from(scriptVersions)
      .innerJoin(scripts, eq(scripts.id, scriptVersions.scriptId))
      .where(isShown(db, caller, id))
  ])
  return { rows, total: counted!.total }
}

/** `null` when there is no such version that the caller sees. */
export async function findVersion(
  db: DbOrTx,
  caller: Caller,
  id: string,
  version: number
): Promise<(VersionRow & { bytes: number }) | null> {
  const [row] = await db
    .select({ ...getTableColumns(scriptVersions), bytes: itemColumns.bytes })
    .from(scriptVersions)
    .innerJoin(scripts, eq(scripts.id, scriptVersions.scriptId))
    .where(and(isShown(db, caller, id), eq(scriptVersions.version, version)))
  return row ?? null
}
