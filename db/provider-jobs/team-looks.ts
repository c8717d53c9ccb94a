import { and, eq, sql } from 'drizzle-orm'
import { ownPause } from '../../domain/backends/look-pause.js'
import type { DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { jobs } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'

/** The looks a second at a team's accepted provider jobs, if each job pauses as it would on its own. */
export async function teamLooksPerSecond(db: DbOrTx, teamId: string): Promise<number> {
  const seconds = sql`extract(epoch from ${now} - ${providerJobs.acceptedAt})`
  const pauseMs = sql`least(greatest(${seconds} * ${1000 * ownPause.share}, ${ownPause.minMs}), ${ownPause.maxMs})`
  const [row] = await db
    .select({ looks: sql<number>`coalesce(sum(1000 / ${pauseMs}), 0)::float8` })
    .from(jobs)
    .innerJoin(providerJobs, eq(providerJobs.jobId, jobs.id))
    .where(and(eq(jobs.teamId, teamId), eq(jobs.status, 'running'), eq(providerJobs.state, 'accepted')))
  return row!.looks
}
