// What the steps of a job at a provider share: their inputs, their possible outcomes, and how a fault of the provider
// becomes one of these outcomes.
import { createHash } from 'node:crypto'
import type { Db } from '../../db/client.js'
import type { Fence } from '../../db/jobs/fence.js'
import type { AnnounceJob } from '../../db/jobs/job-changes.js'
import type { ProviderRef } from '../../db/provider-jobs/provider-refs.js'
import { loadProviderRun, type ProviderRun } from '../../db/provider-jobs/provider-runs.js'
import { credentialsVersion } from '../../db/teams/secrets.js'
import type { Credentials } from '../../domain/backends/provider-credentials.js'
import { codeOf, type JobError, type ServiceError } from '../../domain/errors.js'
import { reasonOf } from '../../domain/operations/reason.js'
import type { ExecutorClient } from '../../services/executor/client.js'
import type { WaitDeps } from '../../services/executor/wait.js'
import type { KeyRing } from '../../services/keys/key-ring.js'
import { type ProviderAdapter, ProviderFault } from '../../services/providers/adapter.js'
import { openCredentials } from '../../services/providers/credentials.js'
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
  /** How long a cancellation waits for the provider's confirmation. */
  cancelSeconds: number
}

export const defaultProviderTimes: ProviderTimes = {
  lookUpWindowSeconds: 600,
  outageSeconds: 24 * 3600,
  silenceSeconds: 30 * 24 * 3600,
  retryMs: 5_000,
  cancelSeconds: 600
}

export interface ProviderDeps extends WaitDeps, FaultDeps {
  log: WaitDeps['log'] & FaultDeps['log']
  db: Db
  executor: ExecutorClient
  /** By the name in the catalogue. */
  providers: ReadonlyMap<string, ProviderAdapter>
  keyRing: KeyRing | null
  announce: AnnounceJob
  providerTimes: ProviderTimes
}

export type AccessDeps = Pick<ProviderDeps, 'db' | 'keyRing' | 'providers' | 'log'>

export interface StepContext {
  ref: ProviderRef
  fence: Fence
  signal: AbortSignal
  /** Takes a place for the step's calls to the provider, until the step ends; `false` when the team holds its share. */
  enter?: (team: string) => boolean
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

/** Until a step without a place comes back. Jitter keeps those that were turned away together apart. */
const shareMs = () => 5_000 * (1 + Math.random())

/** The present state of the job if this worker has the claim on it, or the outcome to return. */
export async function runningJob(
  { db }: ProviderDeps,
  { ref, fence, enter }: StepContext,
  statuses: readonly ('running' | 'cancelling')[] = ['running']
): Promise<{ job: ProviderRun } | { end: StepEnd }> {
  const job = await loadProviderRun(db, ref)
  if (!job || job.generation !== fence.generation) return { end: { next: 'stop' } }
  if (ref.asked && !job.ask)
    throw new Error(`job ${ref.jobId} has no ask ${ref.attempt} of ${ref.task || 'its script'}`)
  if (!(statuses as readonly string[]).includes(job.status))
    return { end: { next: job.status === 'cancelling' ? 'cancel' : 'stop' } }
  if (job.ask?.state === 'answered') return { end: { next: 'answered' } }
  if (enter && !enter(job.teamId)) return { end: again(shareMs(), 'other jobs of the team are at their provider') }
  return { job }
}

/** A provider, and the credentials of the job's team for it, opened for this one call. */
export interface Access {
  adapter: ProviderAdapter
  credentials: Credentials
  /** Names this state of the credentials. */
  version: string
}

/**
 * @returns `missing`, the reason, when this version has no adapter, or the team has no credentials that a key opens. Such
 * a job fails if nothing was sent for it, and otherwise waits as for a silent provider.
 */
export async function accessOf(
  { db, keyRing, providers, log }: AccessDeps,
  job: Pick<ProviderRun, 'teamId' | 'provider'>
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
    return { missing: `the team has no credentials of ${job.provider} (POST /api/team/secrets)` }
  return { adapter, credentials, version }
}

/**
 * Whether a request that may have been sent used other credentials, perhaps of another account. The request of a job that
 * was restored from a backup is not recorded; it is looked for with the restored credentials.
 */
export const sentWithOthers = (
  { sentWith }: { sentWith: string | null },
  { version }: Pick<Access, 'version'>
): boolean => sentWith !== null && sentWith !== version

/** Identifies a provider job in its provider's list, the same in every try. */
export const clientToken = ({ jobId, task, attempt }: ProviderRef): string =>
  createHash('sha256').update(`${jobId}\0${task}\0${attempt}`).digest('hex')

/** The team can replace rejected credentials. */
const UNAUTHORIZED_MS = 60_000

/** When to try again after a provider's fault. Any other error is internal, and thrown again. */
export function againAfter({ providerTimes }: ProviderDeps, error: unknown): Again {
  if (!(error instanceof ProviderFault)) throw error
  const afterMs = error.retryAfterMs ?? (error.kind === 'unauthorized' ? UNAUTHORIZED_MS : providerTimes.retryMs)
  return { next: 'again', afterMs, why: error.message }
}
