// Lists for platform administrators: teams, users, jobs, access codes, the audit, and the open work. Every list covers
// all teams and is capped. Search text is a parameter and never part of a pattern, so none of its characters has a
// special meaning.
import { and, asc, desc, eq, exists, gte, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import type { Page } from '../../domain/json/page.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type {
  AccessCode,
  AdminAction,
  AuditEntry,
  TeamSummary,
  UserSummary
} from '../../domain/operations/administration.js'
import { cappedCount, ONE } from '../capped-count.js'
import type { Db, DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { type JobRow, recordColumns } from '../jobs/jobs.js'
import { accessCodes, members, sessions, teams, users } from '../tables/accounts.js'
import { adminActions } from '../tables/administration.js'
import { jobs, outbox } from '../tables/jobs.js'
import { moneyIsHeld, reservedForJob } from './held-money.js'

export interface Search extends Page {
  /** An id, or text that occurs in a name, in any case. */
  q?: string | undefined
}

export interface Found<Row> {
  rows: Row[]
  /** Counted no further than `TOTAL_MAX + 1`. */
  total: number
}

/** Teams, newest first: by id, by the id of a member, by name, or by a member's address. */
export async function searchTeams(db: Db, search: Search): Promise<Found<TeamSummary>> {
  const memberWhere = (condition: SQL) =>
    exists(
      db
        .select({ one: sql`1` })
        .from(members)
        .innerJoin(users, eq(users.id, members.userId))
        .where(and(eq(members.teamId, teams.id), condition))
    )
  const where = searched(search.q, {
    id: (id) => or(eq(teams.id, id), memberWhere(eq(members.userId, id)))!,
    text: (text) => or(holds(teams.name, text), memberWhere(holds(users.email, text)))!
  })
  const [rows, total] = await Promise.all([
    teamSummaries(db).where(where).orderBy(desc(teams.id)).limit(search.limit).offset(search.offset),
    count(db, teams, where)
  ])
  return { rows: rows.map(toTeamSummary), total }
}

export async function loadTeamSummary(db: DbOrTx, teamId: string): Promise<TeamSummary | null> {
  const [row] = await teamSummaries(db).where(eq(teams.id, teamId))
  return row ? toTeamSummary(row) : null
}

const teamSummaries = (db: DbOrTx) =>
  db
    .select({
      id: teams.id,
      name: teams.name,
      ownerId: users.id,
      ownerEmail: users.email,
      members: sql<number>`(select count(*)::int from ${members} other where other.team_id = ${teams.id})`,
      suspendedAt: teams.suspendedAt,
      suspendedReason: teams.suspendedReason,
      runningJobsMax: teams.runningJobsMax,
      slotsMax: teams.slotsMax,
      deletedAt: teams.deletedAt,
      createdAt: teams.createdAt
    })
    .from(teams)
    .leftJoin(members, and(eq(members.teamId, teams.id), eq(members.role, 'owner')))
    .leftJoin(users, eq(users.id, members.userId))

function toTeamSummary(row: Awaited<ReturnType<typeof teamSummaries>>[number]): TeamSummary {
  const { ownerId, ownerEmail, ...team } = row
  return { ...team, owner: ownerId && ownerEmail ? { id: ownerId, email: ownerEmail } : null }
}

/** Users, newest first: by id, by the id of a team, by address, username or display name. */
export async function searchUsers(db: Db, search: Search): Promise<Found<UserSummary>> {
  const where = searched(search.q, {
    id: (id) =>
      or(
        eq(users.id, id),
        inArray(users.id, db.select({ id: members.userId }).from(members).where(eq(members.teamId, id)))
      )!,
    text: (text) => or(...[users.email, users.username, users.displayName].map((name) => holds(name, text)))!
  })
  // In a query of one table, drizzle drops the table's name from columns within `sql`; hence the aliases.
  const rows = db
    .select({
      id: users.id,
      email: users.email,
      username: users.username,
      displayName: users.displayName,
      isPlatformAdmin: users.isPlatformAdmin,
      emailVerifiedAt: users.emailVerifiedAt,
      teams: sql<number>`(select count(*)::int from ${members} membership where membership.user_id = "users"."id")`,
      lastSeenAt: sql<Date | null>`(select max(session.last_seen_at) from ${sessions} session
        where session.user_id = "users"."id")`.mapWith(sessions.lastSeenAt),
      createdAt: users.createdAt
    })
    .from(users)
    .where(where)
    .orderBy(desc(users.id))
    .limit(search.limit)
    .offset(search.offset)
  const [found, total] = await Promise.all([rows, count(db, users, where)])
  return { rows: found, total }
}

/** A job of any team as administrators see it, without its program, parameters and result. */
export interface AnyJobRecord extends Omit<JobRow, 'params'> {
  teamName: string
  userEmail: string | null
  /** What is reserved for it while its cost is not known; `null` when its money is not held. */
  held: MicroUsd | null
}

export async function loadAnyJobRecord(db: DbOrTx, jobId: string): Promise<AnyJobRecord | null> {
  const { params: _, ...columns } = recordColumns
  const [row] = await db
    .select({
      ...columns,
      teamName: teams.name,
      userEmail: users.email,
      held: sql<string | null>`case when ${moneyIsHeld} then (${reservedForJob})::text end`
    })
    .from(jobs)
    .innerJoin(teams, eq(teams.id, jobs.teamId))
    .leftJoin(users, eq(users.id, jobs.userId))
    .where(eq(jobs.id, jobId))
  return row ? { ...row, held: row.held === null ? null : BigInt(row.held) } : null
}

/** A job of any team. */
export async function loadAnyJob(db: DbOrTx, jobId: string): Promise<JobRow | null> {
  const [row] = await db
    .select(recordColumns)
    .from(jobs)
    .innerJoin(teams, eq(teams.id, jobs.teamId))
    .where(eq(jobs.id, jobId))
  return row ?? null
}

/** Access codes, newest first, including expired and used-up ones. */
export async function listAccessCodes(db: Db, page: Page): Promise<Found<AccessCode>> {
  const [rows, total] = await Promise.all([
    db
      .select()
      .from(accessCodes)
      .orderBy(desc(accessCodes.createdAt), asc(accessCodes.code))
      .limit(page.limit)
      .offset(page.offset),
    count(db, accessCodes, undefined)
  ])
  return { rows, total }
}

export async function findAccessCode(db: DbOrTx, code: string): Promise<AccessCode | null> {
  const [row] = await db.select().from(accessCodes).where(eq(accessCodes.code, code))
  return row ?? null
}

export interface AdminActionFilter {
  /** Only entries older than the one with this id. */
  before?: string | undefined
  action?: AdminAction | undefined
  from?: Date | undefined
  to?: Date | undefined
  limit: number
}

/** Administrative actions, newest first (ids sort by time). */
export async function listAdminActions(
  db: Db,
  { before, action, from, to, limit }: AdminActionFilter
): Promise<{ rows: AuditEntry[]; more: boolean }> {
  const found = await db
    .select()
    .from(adminActions)
    .where(
      and(
        before ? lt(adminActions.id, before) : undefined,
        action ? eq(adminActions.action, action) : undefined,
        from ? gte(adminActions.at, from) : undefined,
        to ? lte(adminActions.at, to) : undefined
      )
    )
    .orderBy(desc(adminActions.id))
    .limit(limit + 1)
  const rows = found.slice(0, limit).map(({ actorId, actorEmail, action, ...entry }) => ({
    ...entry,
    actor: { id: /^[0-]+$/.test(actorId) ? null : actorId, email: actorEmail },
    action: action as AdminAction
  }))
  return { rows, more: found.length > limit }
}

export interface Backlog {
  jobs: Record<'pending' | 'running' | 'cancelling', number>
  /**
   * `held`: deferred until their backend or a slot of their team is free; `due`: ready for delivery; `unreachable`:
   * their dispatch target did not respond last time.
   */
  outbox: { rows: number; held: number; due: number; unreachable: number; oldestSeconds: number | null }
}

const isDue = sql`${outbox.dueAt} <= ${now} and ${outbox.heldReason} is null`

/** How much work is open, and how long the oldest row of the outbox has been due. */
export async function backlog(db: Db): Promise<Backlog> {
  const [open, [waiting]] = await Promise.all([
    db
      .select({ status: jobs.status, count: sql<number>`count(*)::int` })
      .from(jobs)
      .where(inArray(jobs.status, ['pending', 'running', 'cancelling']))
      .groupBy(jobs.status),
    db
      .select({
        rows: sql<number>`count(*)::int`,
        held: sql<number>`count(${outbox.heldReason})::int`,
        due: sql<number>`count(*) filter (where ${isDue})::int`,
        unreachable: sql<number>`count(${outbox.unreachableSince})::int`,
        oldestSeconds: sql<
          number | null
        >`round(extract(epoch from ${now} - min(${outbox.dueAt}) filter (where ${isDue})))::int`
      })
      .from(outbox)
  ])
  const countOf = (status: JobStatus) => open.find((row) => row.status === status)?.count ?? 0
  return {
    jobs: { pending: countOf('pending'), running: countOf('running'), cancelling: countOf('cancelling') },
    outbox: waiting!
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function searched(
  q: string | undefined,
  by: { id: (id: string) => SQL; text: (text: string) => SQL }
): SQL | undefined {
  const text = q?.trim()
  if (!text) return undefined
  return uuid.test(text) ? by.id(text) : by.text(text)
}

const holds = (column: AnyPgColumn, text: string): SQL => sql`strpos(lower(${column}), lower(${text}::text)) > 0`

const count = (db: Db, table: typeof teams | typeof users | typeof accessCodes, where: SQL | undefined) =>
  cappedCount(
    db,
    db
      .select(ONE)
      .from(table as typeof teams)
      .where(where)
      .$dynamic()
  )
