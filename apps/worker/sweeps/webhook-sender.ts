// Sends the deliveries of webhooks, over a few loops at once. Each loop takes the delivery that has been due for the longest
// time, tries it, and takes the next. A webhook is in one loop at a time. After a failed try it pauses, and is kept out of
// half of the loops, so that receivers that hang can only delay each other.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import {
  finishTry,
  removeOldDeliveries,
  type TakenDelivery,
  takeDelivery
} from '../../../db/teams/webhook-deliveries.js'
import type { DeliveryState } from '../../../domain/teams/webhook.js'
import { type KeyRing, webhookContext } from '../../../services/keys/key-ring.js'
import type { WebhookClient, WebhookOutcome } from '../../../services/webhooks/webhook-client.js'
import type { MessageOutcome } from '../metrics.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

const CONNECTIONS = 4
const LOOPS_FOR_FAILING = 2
/** Limit for the memory; beyond it all are forgotten, and failing webhooks are found again soon. */
const FAILING_MAX = 1_000
const SWEEP_MS = 3_600_000
const REMOVED_PER_PASS = 1_000

const outcomeOf = {
  delivered: 'sent',
  pending: 'failed',
  failed: 'given_up'
} as const satisfies Record<DeliveryState, MessageOutcome>

export interface WebhookTimes {
  /** How often a loop without work looks for some. */
  lookMs: number
  retrySeconds: readonly number[]
  /** Pause of a webhook after a failed try. */
  pauseMs: number
}

export interface WebhookSenderDeps {
  db: Db
  keyRing: KeyRing
  client: WebhookClient
  times: WebhookTimes
  reports: SweepReports
  countWebhook(outcome: MessageOutcome): void
  log: Logger
}

export function startWebhookSender(deps: WebhookSenderDeps): TimerLoop {
  const { db, times, reports, countWebhook, log } = deps
  const underWay = new Set<string>()
  /** Webhooks whose last try failed, and the end of each pause on the monotonic clock. */
  const failing = new Map<string, number>()
  let taking: Promise<unknown> = Promise.resolve()

  async function sendNext(failingToo: boolean): Promise<boolean | Pass> {
    const taken = await takeNext(failingToo)
    if (!taken) return false
    try {
      await tryOnce(taken)
    } finally {
      underWay.delete(taken.webhook.id)
    }
    return { more: true, handled: 1 }
  }
  const report = reports.of('webhooks', times.lookMs)
  const senders = Array.from({ length: CONNECTIONS }, (_, index) =>
    startLoop('webhooks', times.lookMs, log, () => sendNext(index < LOOPS_FOR_FAILING), report)
  )
  async function sweepPass(): Promise<Pass> {
    const removed = await removeOldDeliveries(db, REMOVED_PER_PASS)
    return { more: removed === REMOVED_PER_PASS, handled: removed }
  }
  const sweep = startLoop('webhook_log', SWEEP_MS, log, sweepPass, reports.of('webhook_log', SWEEP_MS))

  /** One loop at a time, so that two never take deliveries of the same webhook. */
  function takeNext(failingToo: boolean): Promise<TakenDelivery | null> {
    const next = taking.then(async () => {
      const at = performance.now()
      const pausing = [...failing].filter(([, until]) => !failingToo || until > at).map(([id]) => id)
      const taken = await takeDelivery(db, [...underWay, ...pausing])
      if (taken) underWay.add(taken.webhook.id)
      return taken
    })
    taking = next.catch(() => {})
    return next
  }

  async function tryOnce(taken: TakenDelivery): Promise<void> {
    const { webhook } = taken
    const outcome = await send(deps, taken)
    if (outcome.error === null) failing.delete(webhook.id)
    else {
      if (failing.size >= FAILING_MAX) failing.clear()
      failing.set(webhook.id, performance.now() + times.pauseMs)
    }
    const retrySeconds = taken.event === 'webhook.test' ? [] : times.retrySeconds
    const state = await finishTry(db, taken, outcome, retrySeconds)
    if (state) countWebhook(outcomeOf[state])
    const facts = {
      deliveryId: taken.id,
      webhookId: webhook.id,
      teamId: webhook.teamId,
      tries: taken.tries,
      ...outcome
    }
    if (state === 'failed') log.warn(facts, 'a webhook was given up')
    else log.debug({ ...facts, state }, 'a webhook was tried')
  }

  return {
    name: 'webhooks',
    async close() {
      await Promise.all([...senders, sweep].map((loop) => loop.close()))
    }
  }
}

async function send({ keyRing, client, log }: WebhookSenderDeps, taken: TakenDelivery): Promise<WebhookOutcome> {
  const { webhook } = taken
  let secret: string
  try {
    secret = keyRing.open({ ...webhook, sealedValue: webhook.sealedSecret }, webhookContext(webhook))
  } catch (err) {
    log.error({ err, webhookId: webhook.id }, 'the signing secret of a webhook cannot be opened')
    return { status: null, error: 'the signing secret cannot be opened; delete this webhook and create it again' }
  }
  return client.send({ id: taken.id, url: webhook.url, secret, payload: taken.payload })
}
