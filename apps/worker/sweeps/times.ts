import { defaultProviderTimes, type ProviderTimes } from '../../../activities/provider/step.js'
import { LEASE_RENEW_MS, LEASE_SWEEP_MS } from '../../../domain/jobs/lease.js'
import { RETRY_SECONDS } from '../../../domain/teams/webhook.js'
import { CALL_TIMEOUT_MS } from '../../../services/providers/http.js'
import { defaultMailTimes, type MailTimes } from './mail-sender.js'
import { defaultScheduleTimes, type ScheduleTimes } from './schedule-sweep.js'
import type { WebhookTimes } from './webhook-sender.js'

export interface WorkerTimes {
  relayMs: number
  /** A delivery is looked at again after this long, then each minute. */
  redeliverSeconds: number
  unreachableRetrySeconds: number
  dispatchDeadlineSeconds: number
  leaseRenewMs: number
  leaseSweepMs: number
  /** How long a job may make no progress before its workflow is looked for. */
  quietSeconds: number
  stalledSweepMs: number
  /** A workflow that the server does not know twice, this far apart, is lost. */
  missingConfirmSeconds: number
  executorHealthMs: number
  /** How often it is looked whether a job that waits for its backend, or for room in its team, can go on. */
  heldSweepMs: number
  /** How often the books are proved. */
  moneySweepMs: number
  schedules: ScheduleTimes
  /** How often runs of capsules are looked for that can go on and were not told to. */
  capsuleRunMs: number
  webhooks: WebhookTimes
  mails: MailTimes
  providers: ProviderTimes
  /** For one call to a provider, its answer included. */
  providerCallMs: number
}

export const defaultTimes: WorkerTimes = {
  relayMs: 500,
  redeliverSeconds: 30,
  unreachableRetrySeconds: 2,
  dispatchDeadlineSeconds: 15 * 60,
  leaseRenewMs: LEASE_RENEW_MS,
  leaseSweepMs: LEASE_SWEEP_MS,
  quietSeconds: 60,
  stalledSweepMs: 15_000,
  missingConfirmSeconds: 30,
  executorHealthMs: 5_000,
  heldSweepMs: 5_000,
  moneySweepMs: 60_000,
  capsuleRunMs: 1_000,
  schedules: defaultScheduleTimes,
  webhooks: { lookMs: 2_000, retrySeconds: RETRY_SECONDS, pauseMs: 5_000 },
  mails: defaultMailTimes,
  providers: defaultProviderTimes,
  providerCallMs: CALL_TIMEOUT_MS
}
