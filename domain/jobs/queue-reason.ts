// Why a job that should run does not run yet.

/** The relay defers a start for one of these reasons; `held_reason` in the outbox stores it. */
export const deferralReasons = ['backend_offline', 'concurrency_limit', 'earlier_task'] as const
export type DeferralReason = (typeof deferralReasons)[number]

/** The values of `queue.reason` in the record of a job. */
export const queueReasons = [
  'not_before',
  'engine_unavailable',
  'waiting_for_worker',
  ...deferralReasons,
  'provider_queue'
] as const
export type QueueReason = (typeof queueReasons)[number]
