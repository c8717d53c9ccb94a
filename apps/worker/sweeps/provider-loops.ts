// The worker's loops for providers: it declares which providers it can call, reads the state of their machines, and looks up
// provider jobs whose jobs have finished with their money held, or before their provider stated what they used.
import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { settleHeldProviderJob } from '../../../activities/provider/held-money.js'
import { bookLateUsage } from '../../../activities/provider/late-usage.js'
import { accessOf, type ProviderDeps } from '../../../activities/provider/step.js'
import {
  declareProviders,
  recordBackends,
  secondsSinceReads,
  teamWithCredentials
} from '../../../db/backends/provider-workers.js'
import { giveUpPendingUsage, type PendingUsage, takePendingUsage } from '../../../db/provider-jobs/pending-usage.js'
import { type HeldProviderJob, takeHeldProviderJobs } from '../../../db/provider-jobs/provider-money.js'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import type { SweepName } from '../../../domain/operations/sweep.js'
import { type ProviderAdapter, ProviderFault } from '../../../services/providers/adapter.js'
import type { SweepReports } from './sweep-reports.js'
import { DUE, startLoop, type TimerLoop } from './timer-loop.js'

const DECLARE_MS = 10 * 60_000
const REFRESH_MS = 5 * 60_000
/** How soon the machines of a provider are read for the first team that stores credentials for it. */
const FIRST_CREDENTIALS_MS = 5_000
/** Each of these provider jobs is looked up once an hour at most; this is how often the worker checks which are due. */
const HELD_MS = 60_000
const HELD_PER_PASS = 50
const HELD_TEAMS_AT_ONCE = 8
const CALL_TIMEOUT_MS = 10_000
const REJECTED_MAX = 100

export interface ProviderLoopDeps extends ProviderDeps {
  reports: SweepReports
  log: Logger
}

export type RefreshDeps = Pick<ProviderLoopDeps, 'db' | 'providers' | 'emulated' | 'keyRing' | 'log'>

export function startProviderLoops(deps: ProviderLoopDeps): TimerLoop[] {
  const { db, providers, emulated, reports, log } = deps
  const reads = newReads()
  const named = (name: SweepName, everyMs: number, pass: () => Promise<{ handled: number; more?: boolean }>) =>
    startLoop(name, everyMs, log, pass, reports.of(name, everyMs))
  return [
    startLoop('provider declaration', DECLARE_MS, log, async () => {
      await declareProviders(db, [...providers.keys()], emulated)
      return false
    }),
    named('provider_backends', FIRST_CREDENTIALS_MS, async () => ({
      handled: await refreshBackends(deps, reads, performance.now())
    })),
    named('held_money', HELD_MS, async () => {
      const held = await takeHeldProviderJobs(db, HELD_PER_PASS)
      const handled = await countByTeams(held, (one) => settledNow(deps, one))
      return { handled, more: held.length === HELD_PER_PASS }
    }),
    named('pending_usage', HELD_MS, async () => {
      const givenUp = await giveUpPendingUsage(db, HELD_PER_PASS)
      for (const { jobId, provider } of givenUp)
        log.warn({ jobId, provider }, 'the provider has not stated what a provider job cost; the estimate stays booked')
      const pending = await takePendingUsage(db, HELD_PER_PASS)
      const handled = await countByTeams(pending, (one) => bookedNow(deps, one))
      return { handled, more: givenUp.length === HELD_PER_PASS || pending.length === HELD_PER_PASS }
    })
  ]
}

/**
 * A team's jobs are looked up one after the other, so that a provider that does not respond to one team delays only that
 * team's. @returns for how many `handle` returns true.
 */
async function countByTeams<T extends { teamId: string }>(
  rows: T[],
  handle: (row: T) => Promise<boolean>
): Promise<number> {
  const teams = new Set(rows.map(({ teamId }) => teamId))
  const counts = await pLimit(HELD_TEAMS_AT_ONCE).map(teams, async (team) => {
    let count = 0
    for (const row of rows) if (row.teamId === team && (await handle(row))) count++
    return count
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

/** One that cannot be looked up is due again later, like those without an outcome. */
async function settledNow(deps: ProviderLoopDeps, held: HeldProviderJob): Promise<boolean> {
  const { log } = deps
  const { jobId } = held
  try {
    const outcome = await settleHeldProviderJob(deps, held, AbortSignal.timeout(CALL_TIMEOUT_MS))
    if (outcome === 'settled') log.info({ jobId }, 'the provider has reported the outcome; the held money is settled')
    return outcome === 'settled'
  } catch (err) {
    log.error({ err, jobId }, 'the held money of a job could not be looked up')
    return false
  }
}

async function bookedNow(deps: ProviderLoopDeps, pending: PendingUsage): Promise<boolean> {
  const { log } = deps
  const { jobId } = pending
  try {
    const outcome = await bookLateUsage(deps, pending, AbortSignal.timeout(CALL_TIMEOUT_MS))
    if (outcome === 'booked') log.info({ jobId }, 'the provider has stated what a provider job cost; it is booked')
    return outcome === 'booked' || outcome === 'recorded'
  } catch (err) {
    log.error({ err, jobId }, 'the cost of a provider job could not be looked up')
    return false
  }
}

/**
 * Reads the machines of each provider that no worker has read lately. Without credentials of a team, a provider is not called:
 * an installation contacts no third party unasked. Where a list of machines needs credentials, it is read with those of the
 * team that used the provider last; it is the same for all teams.
 * @param now monotonic milliseconds.
 */
export async function refreshBackends(deps: RefreshDeps, { at, rejected }: Reads, now: number): Promise<number> {
  const { db, providers, emulated, log } = deps
  const isDue = (name: string) => now - (at.get(name) ?? Number.NEGATIVE_INFINITY) >= REFRESH_MS
  if (![...providers.keys()].some(isDue)) return 0
  for (const [name, seconds] of await secondsSinceReads(db))
    if (isDue(name) && seconds * 1_000 < REFRESH_MS * DUE) at.set(name, now - seconds * 1_000)
  let refreshed = 0
  for (const [name, adapter] of providers) {
    if (!isDue(name)) continue
    const team = await readingTeam(deps, adapter, rejected)
    // Once all teams' credentials were rejected, the first is tried again with the next refresh, not at once.
    if (team !== null || rejected.delete(name) || (adapter.devicesArePublic && emulated)) at.set(name, now)
    if (team === null && !(adapter.devicesArePublic && emulated)) continue
    try {
      const seen = await adapter.backends(
        await credentialsOf(deps, adapter, team),
        AbortSignal.timeout(CALL_TIMEOUT_MS)
      )
      await recordBackends(db, name, seen)
      refreshed += seen.length
    } catch (err) {
      // The last known state stays, with its age. Credentials that do not work must not keep it from all other teams.
      log.warn({ provider: name, reason: (err as Error).message }, 'the state of its machines could not be read')
      if (team === null || !(err instanceof ProviderFault) || err.kind !== 'unauthorized') continue
      rejected.set(name, [...(rejected.get(name) ?? []), team].slice(-REJECTED_MAX))
      at.delete(name)
    }
  }
  return refreshed
}

export interface Reads {
  /** When the machines of each provider were last read, by any worker, or this one tried to. */
  at: Map<string, number>
  /** The teams whose credentials a provider did not take for that, since it last took some. */
  rejected: Map<string, string[]>
}

export const newReads = (): Reads => ({ at: new Map(), rejected: new Map() })

/** With whose credentials the machines are read; `null` when no team's are left to try. */
function readingTeam(
  { db }: RefreshDeps,
  { name, credentials }: ProviderAdapter,
  rejected: Reads['rejected']
): Promise<string | null> {
  return teamWithCredentials(db, name, credentials, rejected.get(name) ?? [])
}

async function credentialsOf(
  deps: RefreshDeps,
  { name, devicesArePublic }: ProviderAdapter,
  teamId: string | null
): Promise<Credentials | null> {
  if (devicesArePublic || teamId === null) return null
  const access = await accessOf(deps, { teamId, provider: name, place: null })
  if ('missing' in access) throw new ProviderFault('unauthorized', access.missing)
  return access.at.credentials
}
