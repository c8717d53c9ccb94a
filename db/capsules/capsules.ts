// Finds and lists capsules. Members see the capsules of their teams; published ones are visible to everyone
// (db/capsules/capsule-seals.ts).
import { and, asc, desc, eq, inArray, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { CapsuleStanding } from '../../domain/capsules/capsule-actions.js'
import type { CapsuleState } from '../../domain/capsules/capsule-state.js'
import type { Page } from '../../domain/json/page.js'
import { cappedCount, ONE } from '../capped-count.js'
import type { DbOrTx, Tx } from '../client.js'
import { endsWith } from '../ids.js'
import { members } from '../tables/accounts.js'
import {
  capsuleBudgets,
  capsuleFiles,
  capsulePublications,
  capsuleRuns,
  capsuleRunTasks,
  capsuleSchedules,
  capsuleSeals,
  capsules
} from '../tables/capsules.js'
import { type Caller, membershipsOf } from '../teams/memberships.js'

export type CapsuleRow = typeof capsules.$inferSelect

/** A capsule of one of the caller's teams, or `null`. */
export async function loadCapsule(db: DbOrTx, caller: Caller, id: string): Promise<CapsuleRow | null> {
  const [row] = await db
    .select({ capsule: capsules })
    .from(capsules)
    .innerJoin(members, and(eq(members.teamId, capsules.teamId), membershipsOf(caller)))
    .where(eq(capsules.id, id))
  return row?.capsule ?? null
}

/** A capsule of one of the caller's teams, or a published one; otherwise `null`. */
export async function loadReadableCapsule(db: DbOrTx, caller: Caller, id: string): Promise<CapsuleRow | null> {
  const own = await loadCapsule(db, caller, id)
  if (own) return own
  const [row] = await db
    .select({ capsule: capsules })
    .from(capsules)
    .innerJoin(capsulePublications, eq(capsulePublications.capsuleId, capsules.id))
    .where(and(eq(capsules.id, id), eq(capsules.state, 'published'), isNull(capsulePublications.takenDownAt)))
  return row?.capsule ?? null
}

/** The current row, locked until the transaction ends; `null` when it was deleted. */
export async function lockCapsule(tx: Tx, id: string): Promise<CapsuleRow | null> {
  const [row] = await tx.select().from(capsules).where(eq(capsules.id, id)).for('update')
  return row ?? null
}

/** What the caller's rights over a capsule depend on. An API key acts as its creator, and at most as a member. */
export async function standingOf(
  db: DbOrTx,
  { userId, key }: Caller,
  { teamId, ownerId }: Pick<CapsuleRow, 'teamId' | 'ownerId'>
): Promise<CapsuleStanding> {
  const rows = await db
    .select({ id: members.userId, role: members.role })
    .from(members)
    .where(and(eq(members.teamId, teamId), inArray(members.userId, [userId, ownerId ?? userId])))
  const role = key ? 'member' : rows.find(({ id }) => id === userId)?.role
  return {
    isOwner: ownerId === userId && role !== undefined,
    managesTeam: role === 'owner' || role === 'admin',
    inheritsIt: role === 'owner' && !rows.some(({ id }) => id === ownerId)
  }
}

export interface CapsuleFilter extends Page {
  teamId?: string
  state?: CapsuleState
  /** Text that occurs in the name or the description. */
  text?: string
  tag?: string
  /** Only capsules that the caller owns. */
  mine: boolean
  /** The last 8 to 12 characters of the id. */
  idEnd?: string
}

const summaryColumns = {
  id: capsules.id,
  teamId: capsules.teamId,
  ownerId: capsules.ownerId,
  name: capsules.name,
  description: capsules.description,
  tags: capsules.tags,
  state: capsules.state,
  backends: capsules.backends,
  maxBudget: capsules.maxBudget,
  retentionYears: capsules.retentionYears,
  regulatoryFramework: capsules.regulatoryFramework,
  sourceJobId: capsules.sourceJobId,
  clonedFrom: capsules.clonedFrom,
  createdAt: capsules.createdAt,
  updatedAt: capsules.updatedAt,
  capsuleDigest: capsuleSeals.capsuleDigest,
  sealedAt: capsuleSeals.sealedAt,
  slug: capsulePublications.slug
}

/** The open runs of all teams are few, and have an index of their own; those of one capsule can be thousands. */
const openRuns = (db: DbOrTx) =>
  db
    .select({ capsuleId: capsuleRuns.capsuleId, count: sql<number>`count(*)::int`.as('open_runs') })
    .from(capsuleRuns)
    .where(sql`${capsuleRuns.status} in ('pending', 'running', 'judging')`)
    .groupBy(capsuleRuns.capsuleId)
    .as('open_runs')

function summaryQuery(db: DbOrTx) {
  const open = openRuns(db)
  const last = db
    .select({
      verdict: capsuleRuns.verdict,
      at: sql<Date>`coalesce(${capsuleRuns.completedAt}, ${capsuleRuns.createdAt})`
        .mapWith(capsuleRuns.createdAt)
        .as('last_verified_at')
    })
    .from(capsuleRuns)
    .where(and(eq(capsuleRuns.capsuleId, capsules.id), isNotNull(capsuleRuns.verdict)))
    .orderBy(desc(capsuleRuns.id))
    .limit(1)
    .as('last_verification')
  return db
    .select({
      ...summaryColumns,
      lastVerdict: last.verdict,
      lastVerifiedAt: last.at,
      schedule: capsuleSchedules,
      runsUnderWay: open.count
    })
    .from(capsules)
    .leftJoin(capsuleSeals, eq(capsuleSeals.capsuleId, capsules.id))
    .leftJoin(capsulePublications, eq(capsulePublications.capsuleId, capsules.id))
    .leftJoin(capsuleSchedules, and(eq(capsuleSchedules.capsuleId, capsules.id), isNull(capsuleSchedules.endedAt)))
    .leftJoinLateral(last, sql`true`)
    .leftJoin(open, eq(open.capsuleId, capsules.id))
}

export type CapsuleSummary = Awaited<ReturnType<typeof summaryQuery>>[number]

/** Written as an array, so that the planner uses the team's index; it cannot with a subquery inside an `in`. */
const inTeamsOf = (db: DbOrTx, caller: Caller): SQL =>
  sql`${capsules.teamId} = any(array(${db.select({ id: members.teamId }).from(members).where(membershipsOf(caller))}))`

/**
 * Capsules of the caller's teams, newest first (ids sort by time).
 * @returns `total` is counted no further than `TOTAL_MAX + 1`.
 */
export async function listCapsules(
  db: DbOrTx,
  caller: Caller,
  { limit, offset, teamId, state, text, tag, mine, idEnd }: CapsuleFilter
): Promise<{ rows: CapsuleSummary[]; total: number }> {
  const where = and(
    inTeamsOf(db, caller),
    teamId === undefined ? undefined : eq(capsules.teamId, teamId),
    state === undefined ? undefined : eq(capsules.state, state),
    mine ? eq(capsules.ownerId, caller.userId) : undefined,
    idEnd === undefined ? undefined : endsWith(capsules.id, idEnd),
    tag === undefined ? undefined : sql`${capsules.tags} ? ${tag}`,
    text === undefined
      ? undefined
      : sql`(strpos(lower(${capsules.name}), lower(${text})) > 0 or strpos(lower(${capsules.description}), lower(${text})) > 0)`
  )
  const [rows, total] = await Promise.all([
    summaryQuery(db).where(where).orderBy(desc(capsules.id)).limit(limit).offset(offset),
    cappedCount(db, db.select(ONE).from(capsules).where(where).$dynamic())
  ])
  return { rows, total }
}

/** A file of the evidence without its content. */
export interface CapsuleFileInfo {
  name: string
  /** Hex. */
  sha256: string
  sizeBytes: number
  mediaType: string
}

export type CapsuleSeal = typeof capsuleSeals.$inferSelect
export type CapsulePublication = typeof capsulePublications.$inferSelect
export type CapsuleSchedule = typeof capsuleSchedules.$inferSelect

/** Everything that a capsule's record shows in addition to its row. */
export interface CapsuleParts {
  /** How many tasks have their execution in the evidence; for a draft, in its newest completed run. */
  taskExecutions: number
  files: CapsuleFileInfo[]
  seal: CapsuleSeal | null
  publication: CapsulePublication | null
  schedule: CapsuleSchedule | null
  spent: bigint
  reserved: bigint
}

export async function loadParts(
  db: DbOrTx,
  capsule: Pick<CapsuleRow, 'id' | 'definitionSha256'>
): Promise<CapsuleParts> {
  const { id } = capsule
  // Sequential, since a transaction has one connection.
  const files = await listFiles(db, id)
  const seal = await loadSeal(db, id)
  const [publication] = await db.select().from(capsulePublications).where(eq(capsulePublications.capsuleId, id))
  const [schedule] = await db
    .select()
    .from(capsuleSchedules)
    .where(and(eq(capsuleSchedules.capsuleId, id), isNull(capsuleSchedules.endedAt)))
  const [budget] = await db.select().from(capsuleBudgets).where(eq(capsuleBudgets.capsuleId, id))
  const kept = countExecutions(files)
  return {
    taskExecutions: kept > 0 ? kept : (await evidenceRun(db, capsule)).length,
    files,
    seal,
    publication: publication ?? null,
    schedule: schedule ?? null,
    spent: budget?.spent ?? 0n,
    reserved: budget?.reserved ?? 0n
  }
}

/** How many tasks have their execution among the files. */
export const countExecutions = (files: readonly Pick<CapsuleFileInfo, 'name'>[]): number =>
  files.filter(({ name }) => /^tasks\/[^/]+\/job\.json$/.test(name)).length

export async function loadSeal(db: DbOrTx, capsuleId: string): Promise<CapsuleSeal | null> {
  const [row] = await db.select().from(capsuleSeals).where(eq(capsuleSeals.capsuleId, capsuleId))
  return row ?? null
}

export const listFiles = (db: DbOrTx, capsuleId: string): Promise<CapsuleFileInfo[]> =>
  db
    .select({
      name: capsuleFiles.name,
      sha256: capsuleFiles.sha256,
      sizeBytes: capsuleFiles.sizeBytes,
      mediaType: capsuleFiles.mediaType
    })
    .from(capsuleFiles)
    .where(eq(capsuleFiles.capsuleId, capsuleId))
    .orderBy(asc(sql`${capsuleFiles.name} collate "C"`))

/** Whether any run of it has completed, with any definition. */
export async function hasCompletedRun(db: DbOrTx, capsuleId: string): Promise<boolean> {
  const rows = await db
    .select({ id: capsuleRuns.id })
    .from(capsuleRuns)
    .where(and(eq(capsuleRuns.capsuleId, capsuleId), eq(capsuleRuns.status, 'completed')))
    .limit(1)
  return rows.length > 0
}

/** The jobs of the newest completed run of the capsule's current definition, in the order of its tasks. */
export async function evidenceRun(
  db: DbOrTx,
  { id, definitionSha256 }: Pick<CapsuleRow, 'id' | 'definitionSha256'>
): Promise<{ task: string; jobId: string }[]> {
  const newest = db
    .select({ id: capsuleRuns.id })
    .from(capsuleRuns)
    .where(
      and(
        eq(capsuleRuns.capsuleId, id),
        eq(capsuleRuns.mode, 'template'),
        eq(capsuleRuns.status, 'completed'),
        eq(capsuleRuns.definitionSha256, definitionSha256)
      )
    )
    .orderBy(desc(capsuleRuns.id))
    .limit(1)
  return db
    .select({ task: capsuleRunTasks.name, jobId: capsuleRunTasks.jobId })
    .from(capsuleRunTasks)
    .where(inArray(capsuleRunTasks.runId, newest))
    .orderBy(asc(capsuleRunTasks.position))
}
