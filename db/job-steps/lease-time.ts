import { sql } from 'drizzle-orm'
import { LEASE_MS } from '../../domain/jobs/lease.js'

/** When a lease that is taken or renewed now expires, by the database's clock. */
export const leaseEnd = sql`clock_timestamp() + make_interval(secs => ${LEASE_MS / 1_000})`
