// A backlog of jobs: recorded as a submission records them, and watched until all are completed.
import { eq, sql } from 'drizzle-orm'
import { findBackend } from '../../db/backends/backends.js'
import { createJob } from '../../db/submissions/create-job.js'
import { outbox } from '../../db/tables/jobs.js'
import { lockTeamForWrite } from '../../db/teams/teams.js'
import { paramsFromValue } from '../../domain/jobs/params/params.js'
import { BELL } from '../bare/bare.js'
import type { BenchPlatform } from '../support/bench-stack.js'

const LIMIT_MS = 300_000

/** Records `count` jobs that no relay delivers: only the bench hands them over. */
export async function recordBacklog(
  { connection, user }: BenchPlatform,
  mode: 'direct' | 'temporal',
  count: number
): Promise<string[]> {
  const { db } = connection
  const backend = (await findBackend(db, 'local'))!
  const caller = { userId: user.id, email: user.email, key: null }
  const ids = await db.transaction(async (tx) => {
    const teamId = await lockTeamForWrite(tx, caller, null)
    const submission = {
      source: { kind: 'circuit' as const, format: 'qasm3' as const, text: BELL },
      backend: 'local',
      params: paramsFromValue({ shots: 1024 }),
      mode,
      teamId,
      name: null,
      labels: [],
      timeoutSeconds: 120,
      maxCost: null,
      notBefore: null,
      circuitCount: 1,
      notify: null
    }
    const recorded: string[] = []
    for (let at = 0; at < count; at++)
      recorded.push(await createJob(tx, submission, { caller, backend, at: new Date() }))
    // Before the commit: a relay would take a fresh row after two seconds.
    await tx.update(outbox).set({ nextAt: sql`now() + interval '1 day'` }).where(eq(outbox.deliveries, 0))
    return recorded
  })
  // As autovacuum does with tables that have grown; a plan made for empty tables is not what production uses.
  await connection.sql`analyze jobs, outbox, attempts`
  return ids
}

export async function untilCompleted({ connection }: BenchPlatform, count: number): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (performance.now() < deadline) {
    const [row] = await connection.sql<{ done: number; failed: number }[]>`
      select count(*) filter (where status = 'completed')::int as done, count(*) filter (where status = 'failed')::int as failed from jobs`
    if (row!.failed > 0) throw new Error('a job of the bench failed')
    if (row!.done >= count) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`jobs are still open after ${LIMIT_MS / 1000} s`)
}
