// Removes the names of a user or of API keys from jobs, before the user or the keys are deleted. The foreign keys would do
// the same in one statement, which is too long for a user with very many jobs, and they would lock the days of a key before
// its jobs, while a settlement locks them in the opposite order.
import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '../client.js'
import { jobs } from '../tables/jobs.js'
import { apiKeys } from '../tables/teams.js'

/** How many jobs one statement changes. */
const AT_ONCE = 2_000

/** Ends of jobs wait for the locked rows until the transaction commits, so the open jobs are changed last. */
export async function detachJobs(tx: Tx, where: SQL, set: { userId: null } | { apiKeyId: null }): Promise<void> {
  for (const isOpen of [false, true]) {
    const open = sql`(${jobs.status} in ('pending', 'running', 'cancelling')) = ${isOpen}`
    for (;;) {
      const some = tx
        .select({ id: jobs.id })
        .from(jobs)
        .where(sql`${where} and ${open}`)
        .orderBy(jobs.id)
        .limit(AT_ONCE)
        .for('no key update')
      const changed = await tx.update(jobs).set(set).where(inArray(jobs.id, some)).returning({ id: jobs.id })
      if (changed.length < AT_ONCE) break
    }
  }
}

/** @param whose a condition on API keys. */
export async function detachJobsOfKeys(tx: Tx, whose: SQL): Promise<void> {
  const keys = await tx.select({ id: apiKeys.id }).from(apiKeys).where(whose).orderBy(apiKeys.id)
  for (const { id } of keys) await detachJobs(tx, eq(jobs.apiKeyId, id), { apiKeyId: null })
}
