// Rows for database tests, created by the product's own functions.

import { randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { v7 } from 'uuid'
import { signUp } from '../../../db/accounts/accounts.js'
import { findBackend } from '../../../db/backends/backends.js'
import type { Db } from '../../../db/client.js'
import { newId } from '../../../db/ids.js'
import { createJob } from '../../../db/submissions/create-job.js'
import { members, teams } from '../../../db/tables/accounts.js'
import { lockTeamForWrite } from '../../../db/teams/teams.js'
import { recordBudgetExceeded } from '../../../db/teams/webhook-deliveries.js'
import type { Backend } from '../../../domain/backends/backend.js'
import type { JobStatus } from '../../../domain/jobs/job-status.js'
import { paramsFromValue } from '../../../domain/jobs/params/params.js'
import type { Submission } from '../../../domain/jobs/submission.js'
import type { MicroUsd } from '../../../domain/money/money.js'
import { bellQasm3 } from './builders.js'

export interface Person {
  userId: string
  email: string
}

/** A user. The personal team is created with the first job. */
export async function addPerson(db: Db): Promise<Person> {
  const email = `${randomBytes(6).toString('hex')}@example.org`
  const user = await signUp(db, { email, passwordHash: null, displayName: null, code: null })
  return { userId: user.id, email }
}

export async function addTeam(db: Db, owner: Person): Promise<string> {
  const id = newId()
  await db.insert(teams).values({ id, name: 'a team' })
  await db.insert(members).values({ teamId: id, userId: owner.userId, role: 'owner' })
  return id
}

export interface JobChoices {
  /** Price of the job; the backend in the database stays unchanged. */
  cost?: MicroUsd
  at?: Date
  /** The API key that submits it. */
  key?: { id: string; teamId: string; dailyLimit: MicroUsd | null }
  submission?: Partial<Submission>
}

/** A pending job, recorded like a submission. @throws ServiceError as `lockTeamForWrite` and `createJob` do. */
export async function addJob(db: Db, person: Person, choices: JobChoices = {}): Promise<string> {
  const backend: Backend = (await findBackend(db, choices.submission?.backend ?? 'local'))!
  const pricing = { ...backend.pricing, taskFee: choices.cost ?? 0n }
  const submission: Submission = {
    source: { kind: 'inline', framework: 'openqasm', text: bellQasm3() },
    backend: 'local',
    params: paramsFromValue({ shots: 100 }),
    mode: 'temporal',
    teamId: null,
    name: null,
    labels: [],
    timeoutSeconds: 60,
    maxCost: null,
    notBefore: null,
    circuitCount: 1,
    notify: null,
    ...choices.submission
  }
  const caller = { ...person, key: choices.key ?? null }
  const refusals: Parameters<typeof recordBudgetExceeded>[1][] = []
  const recorded = db.transaction(async (tx) => {
    const teamId = await lockTeamForWrite(tx, caller, submission.teamId)
    return createJob(
      tx,
      { ...submission, teamId },
      {
        caller,
        keyDailyLimit: choices.key?.dailyLimit ?? null,
        backend: { ...backend, pricing },
        at: choices.at ?? new Date(),
        refused: (refusal) => void refusals.push({ teamId, backend: backend.slug, refusal })
      }
    )
  })
  return recorded.catch(async (error) => {
    for (const refusal of refusals) await recordBudgetExceeded(db, refusal)
    throw error
  })
}

/** Forces a job into a status. The guard of the database is bypassed for this one write. */
export async function forceStatus(
  db: Db,
  jobId: string,
  row: { status: JobStatus; generation?: number; statusGeneration?: number | null; lease?: string | null }
): Promise<void> {
  const { status, generation = 1, statusGeneration = generation, lease = null } = row
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(sql`update jobs set status = ${status}, generation = ${generation},
      status_generation = ${statusGeneration}, lease_token = ${lease},
      lease_expires_at = ${lease === null ? sql`null` : sql`now() + interval '15 seconds'`} where id = ${jobId}`)
  })
}

/** Moves a job into the past, with its id, which sorts by time. @returns its new id. */
export async function ageJob(db: Db, id: string, days: number): Promise<string> {
  const aged = v7({ msecs: Date.now() - days * 86_400_000 - 2 * 3_600_000 })
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(sql`update jobs set id = ${aged}, created_at = now() - ${`${days} days 2 hours`}::interval,
      completed_at = case when completed_at is not null then now() - ${`${days} days 1 minute`}::interval end where id = ${id}`)
    const tables = await tx.execute<{ name: string }>(sql`select table_name as name from information_schema.columns
      join information_schema.tables using (table_schema, table_name)
      where column_name = 'job_id' and table_type = 'BASE TABLE' and table_schema = 'public'`)
    for (const { name } of tables)
      await tx.execute(sql`update ${sql.identifier(name)} set job_id = ${aged} where job_id = ${id}`)
  })
  return aged
}

/** Everything that the database holds about a job, to see whether a call changed anything. */
export async function everythingAbout(db: Db, jobId: string): Promise<unknown> {
  const tables = ['job_events', 'job_output', 'job_points', 'attempts', 'outbox', 'ledger', 'artifacts']
  const [job] = await db.execute(sql`select * from jobs where id = ${jobId}`)
  const rest = await Promise.all(
    tables.map((table) =>
      db.execute(sql`select * from ${sql.identifier(table)} where job_id = ${jobId} order by 1, 2, 3`)
    )
  )
  const counters = await db.execute(
    sql`select * from budget_counters where team_id = ${job!.team_id} order by period, starts_on`
  )
  return { job, rest: rest.map((rows) => [...rows]), counters: [...counters] }
}

export const newLease = (): string => randomUUID()
