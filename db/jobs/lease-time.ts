import { sql } from 'drizzle-orm'

/** How long a direct job's worker may be silent before a sweep takes the job from it. */
export const LEASE_SECONDS = 15

export const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`
