import { describe, expect, test } from '@jest/globals'
import { defaultTimes } from '../../apps/worker/times.js'
import {
  LEASE_GRACE_MS,
  LEASE_MS,
  LEASE_RENEW_MS,
  LEASE_SWEEP_MS,
  LEASE_SWEEPER_AWAY_MS
} from '../../domain/jobs/lease.js'

describe('the times of a lease', () => {
  test('a worker renews a lease several times before it expires', () => {
    expect(LEASE_MS).toBeGreaterThanOrEqual(3 * LEASE_RENEW_MS)
  })

  test('a sweeper notices each outage that is long enough to make a lease expire', () => {
    expect(LEASE_SWEEPER_AWAY_MS).toBeLessThanOrEqual(LEASE_MS - LEASE_RENEW_MS)
    expect(LEASE_SWEEPER_AWAY_MS).toBeGreaterThanOrEqual(2 * LEASE_SWEEP_MS)
  })

  test('a sweeper that was away waits longer than a lease before it takes one', () => {
    expect(LEASE_GRACE_MS).toBeGreaterThan(LEASE_MS)
  })

  test('the worker renews and sweeps leases at these intervals by default', () => {
    expect(defaultTimes.leaseRenewMs).toBe(LEASE_RENEW_MS)
    expect(defaultTimes.leaseSweepMs).toBe(LEASE_SWEEP_MS)
  })
})
