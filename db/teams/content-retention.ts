// How long a team keeps the contents of its jobs.
import { and, eq, sql } from 'drizzle-orm'
import {
  CHANGE_HOURS,
  type ContentKind,
  contentKindNames,
  type KeptDays
} from '../../domain/teams/content-retention.js'
import type { DbOrTx, Tx } from '../client.js'
import { contentRetention, contentRetentionMarks } from '../tables/storage.js'

export interface KeptSetting {
  days: number
  /** From when on it holds. */
  from: Date
}

/** The team's own numbers, by kind. */
export async function contentRetentionOf(db: DbOrTx, teamId: string): Promise<Record<ContentKind, KeptSetting | null>> {
  const { kind, days, changedAt } = contentRetention
  const rows = await db
    .select({ kind, days, changedAt })
    .from(contentRetention)
    .where(eq(contentRetention.teamId, teamId))
  const of = (name: ContentKind): KeptSetting | null => {
    const row = rows.find(({ kind }) => kind === name)
    return row ? { days: row.days, from: new Date(row.changedAt.getTime() + CHANGE_HOURS * 3_600_000) } : null
  }
  return { results: of('results'), task_values: of('task_values'), output: of('output') }
}

/**
 * Sets the numbers that are given; `null` for those of the operator. The caller has locked the team. A number that stays the same
 * keeps the time from which it holds.
 */
export async function setContentRetention(tx: Tx, teamId: string, days: Partial<KeptDays>): Promise<void> {
  for (const kind of contentKindNames) {
    const value = days[kind]
    if (value === undefined) continue
    if (value === null)
      await tx.delete(contentRetention).where(and(eq(contentRetention.teamId, teamId), eq(contentRetention.kind, kind)))
    else
      await tx
        .insert(contentRetention)
        .values({ teamId, kind, days: value })
        .onConflictDoUpdate({
          target: [contentRetention.teamId, contentRetention.kind],
          set: { days: value, changedAt: sql`clock_timestamp()` },
          setWhere: sql`${contentRetention.days} <> ${value}::int`
        })
  }
}

/** The sweep looks at all jobs of the team again: a capsule that kept the contents of some is deleted. */
export async function lookAgain(tx: Tx, teamId: string): Promise<void> {
  await tx.delete(contentRetentionMarks).where(eq(contentRetentionMarks.teamId, teamId))
}
