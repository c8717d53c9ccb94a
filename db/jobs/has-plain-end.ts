// Whether a job ends plainly: its status, and what `transition` writes with it, is all that is due. Most jobs do.
import { and, eq, isNull, sql } from 'drizzle-orm'
import { ledger } from '../tables/budgets.js'
import { jobs } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'
import { hasSubscriber } from '../teams/webhook-deliveries.js'

/** No money, no capsule, no webhook, no points, and no row that a cancel or another workflow may have added. */
export const hasPlainEnd = and(
  eq(jobs.estimatedCost, 0n),
  eq(jobs.createCapsule, false),
  eq(jobs.generation, 1),
  isNull(jobs.cancelRequestedAt),
  isNull(jobs.pointsTotal),
  sql`not exists (select from ${ledger} where ${ledger.jobId} = ${jobs.id})`,
  sql`not exists (select from ${providerJobs} where ${providerJobs.jobId} = ${jobs.id})`,
  sql`not ${hasSubscriber('job.completed', sql`${jobs.teamId}`)}`
)!
