// The times of a direct job's lease, in milliseconds. They depend on each other; test/worker/lease-times.test.ts asserts how.

/** How long a worker may go without renewing a job's lease before a sweep fails the job with `worker_lost`. */
export const LEASE_MS = 15_000

/** Three renewals fit into a lease, so a renewal that fails or is late costs no job. */
export const LEASE_RENEW_MS = 5_000

export const LEASE_SWEEP_MS = 5_000

/**
 * A sweeper without a successful pass for this long was itself away (it has just started, or the database was down).
 * No more than `LEASE_MS - LEASE_RENEW_MS`: a shorter outage of the database cannot make a lease expire.
 */
export const LEASE_SWEEPER_AWAY_MS = 10_000

/** A sweeper that was away takes no lease for this long. Longer than a lease, so every live worker renews first. */
export const LEASE_GRACE_MS = 20_000
