// What the steps of a job at a provider share: their inputs, their possible outcomes, and how a fault of the provider
// becomes one of these outcomes.
import { createHash } from 'node:crypto'
import type { Db } from '../../db/client.js'
import type { Fence } from '../../db/jobs/fence.js'
import type { AnnounceJob } from '../../db/jobs/job-changes.js'
import { markWaiting } from '../../db/provider-jobs/provider-jobs.js'
import type { ProviderRef } from '../../db/provider-jobs/provider-refs.js'
import { loadProviderRun, type ProviderRun } from '../../db/provider-jobs/provider-runs.js'
import { credentialsVersion } from '../../db/teams/secrets.js'
import { lookPauseMs } from '../../domain/backends/look-pause.js'
import type { Place } from '../../domain/backends/provider-job.js'
import { codeOf, type JobError, type ServiceError } from '../../domain/errors.js'
import { secondsWithoutPrice } from '../../domain/money/device-price.js'
import { reasonOf } from '../../domain/operations/reason.js'
import type { WaitDeps } from '../../services/executor/wait.js'
import type { KeyRing } from '../../services/keys/key-ring.js'
import { type Located, type ProviderAdapter, ProviderFault } from '../../services/providers/adapter.js'
import { openCredentials } from '../../services/providers/credentials.js'
import type { Descriptions } from '../../services/providers/descriptions.js'
import type { ProviderRates } from '../../services/providers/rates.js'
import type { FaultDeps } from '../job/step.js'

export interface ProviderTimes {
  /** A look-up that finds nothing is trusted only this long after the last possible submission. */
  lookUpWindowSeconds: number
  /** One unbroken silence of the provider before it has accepted. */
  outageSeconds: number
  /** One unbroken silence after it has accepted. */
  silenceSeconds: number
  /** Between two tries, where the provider names no time. */
  retryMs: number
  /** For everything that a description of a device takes, the provider's sign-in included. */
  describeMs: number
  /** How long a cancellation waits for the provider's confirmation. */
  cancelSeconds: number
}

export const defaultProviderTimes: ProviderTimes = {
  lookUpWindowSeconds: 600,
  outageSeconds: 24 * 3600,
  silenceSeconds: 30 * 24 * 3600,
  retryMs: 5_000,
  describeMs: 30_000,
  cancelSeconds: 600
}

export interface ProviderDeps extends WaitDeps, FaultDeps {
  log: WaitDeps['log'] & FaultDeps['log']
  db: Db
  /** By the name in the catalogue. */
  providers: ReadonlyMap<string, ProviderAdapter>
  /** The providers are emulators. */
  emulated: boolean
  /** Counts what is sent to each provider for each team. */
  rates: ProviderRates
  /** Those under way in this worker. */
  descriptions: Descriptions
  /** As `teamLooksPerSecond`, perhaps some seconds old. */
  teamLooks: (teamId: string) => Promise<number>
  keyRing: KeyRing | null
  announce: AnnounceJob
  providerTimes: ProviderTimes
}

export type AccessDeps = Pick<ProviderDeps, 'db' | 'keyRing' | 'providers' | 'log'>

export interface StepContext {
  ref: ProviderRef
  fence: Fence
  signal: AbortSignal
  /** The step's place for its calls to the provider. Absent where nothing is shared. */
  place?: StepPlace
}

export interface StepPlace {
  /** Takes a place, until `leave` or the end of the step; `false` when the team holds its share. */
  enter(team: string): boolean
  leave(): void
}

/** The step is not done yet, and nothing is wrong. */
export interface Again {
  next: 'again'
  afterMs: number
  why: string
}

/** The outcomes that every step can have in addition to its own. */
export type StepEnd =
  | Again
  | { next: 'fail'; error: JobError }
  /** The job is to be cancelled. */
  | { next: 'cancel' }
  /** This worker has lost its claim on the job. */
  | { next: 'stop' }
  /** For a requested circuit: its response is stored. */
  | { next: 'answered' }

export const again = (afterMs: number, why: string): Again => ({ next: 'again', afterMs, why })

export const fail = (code: JobError['code'], message: string): StepEnd => ({ next: 'fail', error: { code, message } })

/** Milliseconds between two looks at a job, at the present number of its team's jobs. */
export const lookPause = async (
  { teamLooks }: ProviderDeps,
  { teamId, secondsAccepted }: ProviderRun
): Promise<number> => lookPauseMs(secondsAccepted ?? 0, await teamLooks(teamId))

/**
 * The end of a step that found no place. A look waits as long as after a look: thousands of jobs would otherwise ask for a
 * place every few seconds. Jitter keeps those that were turned away together apart.
 */
export async function withoutPlace(deps: ProviderDeps, job: ProviderRun): Promise<Again> {
  const isLook = job.status === 'running' && job.task?.state === 'accepted'
  const afterMs = Math.max(5_000, isLook ? await lookPause(deps, job) : 0) * (1 + Math.random())
  return again(afterMs, 'other jobs of the team are at their provider')
}

/** The present state of the job if this worker has the claim on it, or the outcome to return. */
export async function runningJob(
  deps: ProviderDeps,
  { ref, fence, place }: StepContext,
  statuses: readonly ('running' | 'cancelling')[] = ['running']
): Promise<{ job: ProviderRun } | { end: StepEnd }> {
  const job = await loadProviderRun(deps.db, ref)
  if (!job || job.generation !== fence.generation) return { end: { next: 'stop' } }
  if (ref.asked && !job.ask)
    throw new Error(`job ${ref.jobId} has no ask ${ref.attempt} of ${ref.task || 'its script'}`)
  if (!(statuses as readonly string[]).includes(job.status))
    return { end: { next: job.status === 'cancelling' ? 'cancel' : 'stop' } }
  if (job.ask?.state === 'answered') return { end: { next: 'answered' } }
  if (place && !place.enter(job.teamId)) return { end: await withoutPlace(deps, job) }
  return { job }
}

/** A provider, and the credentials of the job's team for it, opened for this one call. */
export interface Access {
  adapter: ProviderAdapter
  /** The place is that of the provider job; empty before it has one. */
  at: Located
  /** Names this state of the credentials. */
  version: string
}

/**
 * @returns `missing`, the reason, when this version has no adapter, or the team has no credentials that a key opens. Such
 * a job fails if nothing was sent for it, and otherwise waits as for a silent provider.
 */
export async function accessOf(
  { db, keyRing, providers, log }: AccessDeps,
  { place, ...job }: Pick<ProviderRun, 'teamId' | 'provider'> & { place: Place | null }
): Promise<Access | { missing: string }> {
  const adapter = providers.get(job.provider)
  if (!adapter) return { missing: `this version cannot talk to ${job.provider}` }
  if (!keyRing) return { missing: `SECRETS_KEYS is not set, so the credentials of ${job.provider} cannot be opened` }
  // Read before the values: if the credentials change in between, the older version is the safe one to record.
  const version = await credentialsVersion(db, job.teamId, adapter.credentials)
  const credentials = await openCredentials(db, keyRing, job.teamId, adapter.credentials).catch((error) => {
    if (codeOf(error) === null) throw error
    log.warn({ teamId: job.teamId, provider: job.provider, reason: reasonOf(error) }, 'credentials cannot be opened')
    return error as ServiceError
  })
  if (credentials instanceof Error) return { missing: credentials.message }
  if (Object.keys(credentials).length === 0)
    return { missing: `the team has no credentials of ${job.provider}: an owner or admin stores them` }
  return { adapter, at: { credentials, place: place ?? {} }, version }
}

/**
 * Whether a request that may have been sent went to another account than that of the present credentials, or perhaps did:
 * the credentials of some providers do not name their account, and any change of them counts. The request of a job that was
 * restored from a backup is not recorded; it is looked for with the restored credentials.
 * @param present `account` is that of the present credentials.
 */
export const sentWithOthers = (
  { sentWith, place }: { sentWith: string | null; place: Place | null },
  present: { version: string; account: string | undefined }
): boolean =>
  sentWith !== null && (place?.account === undefined ? sentWith !== present.version : place.account !== present.account)

/** Why nothing is sent to a device whose seconds have no price. Emulators charge nothing. */
export function unpricedSeconds(
  { emulated }: Pick<ProviderDeps, 'emulated'>,
  { billsSeconds }: ProviderAdapter,
  { backend, pricing }: ProviderRun
): JobError | null {
  const message = billsSeconds && !emulated ? secondsWithoutPrice(backend, pricing) : null
  return message === null ? null : { code: 'backend_unavailable', message }
}

/** Identifies a provider job in its provider's list, the same in every try. */
export const clientToken = ({ jobId, task, attempt }: ProviderRef): string =>
  createHash('sha256').update(`${jobId}\0${task}\0${attempt}`).digest('hex')

/** The team can replace rejected credentials, and a device comes back: neither within seconds. */
const SLOW_FACTOR = 12
const BACKOFF_MAX_MS = 5 * 60_000

/**
 * When to try again after a provider's fault. Any other error is internal, and thrown again.
 * @param tries so far: a provider that has too many requests is left alone for longer each time.
 */
export function againAfter({ providerTimes }: Pick<ProviderDeps, 'providerTimes'>, error: unknown, tries = 1): Again {
  if (!(error instanceof ProviderFault)) throw error
  const slow = error.kind === 'unauthorized' || error.kind === 'offline'
  const busyMs = Math.min(providerTimes.retryMs * 2 ** Math.min(tries - 1, 10), BACKOFF_MAX_MS)
  const ownMs = slow ? providerTimes.retryMs * SLOW_FACTOR : error.kind === 'busy' ? busyMs : providerTimes.retryMs
  return { next: 'again', afterMs: withJitter(error.retryAfterMs ?? ownMs), why: error.message }
}

/** Keeps apart those that a provider turned away together. */
const withJitter = (ms: number): number => ms * (1 + Math.random() / 4)

/** Records why a provider job waits, and returns the wait. */
export async function waiting({ db, announce }: ProviderDeps, ref: ProviderRef, wait: Again): Promise<Again> {
  if (await markWaiting(db, ref, wait.why.slice(0, WAIT_MESSAGE_MAX))) announce(ref.jobId)
  return wait
}

const WAIT_MESSAGE_MAX = 1_000

/** `null` when the team can make one more request of this kind now, which counts; else when it can. */
export async function withinRate(
  { rates }: ProviderDeps,
  { name, rates: limits }: ProviderAdapter,
  team: string,
  kind: 'submit' | 'look'
): Promise<Again | null> {
  const waitMs = limits ? await rates.take({ provider: name, team, kind, rate: limits[kind] }) : null
  return waitMs === null ? null : again(withJitter(waitMs), `${name} takes no more requests of the team at present`)
}
