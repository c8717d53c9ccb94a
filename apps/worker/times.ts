// The intervals and limits of a worker's loops.
import { defaultProviderTimes, type ProviderTimes } from '../../activities/provider/step.js'
import type { RetryPause } from '../../db/job-steps/outbox.js'
import { LEASE_RENEW_MS, LEASE_SWEEP_MS } from '../../domain/jobs/lease.js'
import { RETRY_SECONDS } from '../../domain/teams/webhook.js'
import { CALL_TIMEOUT_MS } from '../../services/providers/http.js'
import { type ContentTimes, defaultContentTimes } from './sweeps/contents/content-sweep.js'
import { defaultMailTimes, type MailTimes } from './sweeps/mail-sender.js'
import { defaultScheduleTimes, type ScheduleTimes } from './sweeps/schedule-sweep.js'
import type { WebhookTimes } from './sweeps/webhook-sender.js'

export interface WorkerTimes {
  relayMs: number
  /** A delivery is checked after this time, then each minute. */
  redeliverSeconds: number
  unreachableRetry: RetryPause
  dispatchDeadlineSeconds: number
  leaseRenewMs: number
  leaseSweepMs: number
  /** How long a job makes no progress before its workflow is checked. */
  quietSeconds: number
  stalledSweepMs: number
  /** A workflow counts as lost when two checks this far apart do not find it. */
  missingConfirmSeconds: number
  executorHealthMs: number
  /** How often the limits of teams are read. */
  teamLimitsMs: number
  /** How often deferred starts are checked. */
  deferredSweepMs: number
  /** How often the ledger is checked. */
  moneySweepMs: number
  schedules: ScheduleTimes
  /** How often the sweep looks for runs of capsules that can advance. */
  capsuleRunMs: number
  webhooks: WebhookTimes
  mails: MailTimes
  contents: ContentTimes
  providers: ProviderTimes
  /** Limit for one call to a provider, its response included. */
  providerCallMs: number
}

export const defaultTimes: WorkerTimes = {
  relayMs: 500,
  redeliverSeconds: 30,
  unreachableRetry: { minSeconds: 2, maxSeconds: 30 },
  dispatchDeadlineSeconds: 15 * 60,
  leaseRenewMs: LEASE_RENEW_MS,
  leaseSweepMs: LEASE_SWEEP_MS,
  quietSeconds: 60,
  stalledSweepMs: 15_000,
  missingConfirmSeconds: 30,
  executorHealthMs: 5_000,
  teamLimitsMs: 5_000,
  deferredSweepMs: 5_000,
  moneySweepMs: 60_000,
  capsuleRunMs: 1_000,
  schedules: defaultScheduleTimes,
  webhooks: { lookMs: 2_000, retrySeconds: RETRY_SECONDS, pauseMs: 5_000 },
  mails: defaultMailTimes,
  contents: defaultContentTimes,
  providers: defaultProviderTimes,
  providerCallMs: CALL_TIMEOUT_MS
}
