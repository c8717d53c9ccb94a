// Sends what webhooks are to be told, a few at once. Each lane takes the delivery that has been due for the longest time,
// tries it, and takes the next. No webhook has more than one lane, and one whose last try failed is left alone for a while
// and kept out of half of the lanes: receivers that hang can fill the others, and hold up nobody but each other.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import {
  finishTry,
  removeOldDeliveries,
  type TakenDelivery,
  takeDelivery
} from '../../../db/teams/webhook-deliveries.js'
import { type KeyRing, webhookContext } from '../../../services/keys/key-ring.js'
import type { WebhookClient, WebhookOutcome } from '../../../services/webhooks/webhook-client.js'
import type { Pass, SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

const CONNECTIONS = 4
const LANES_FOR_FAILING = 2
/** Beyond this many nobody is remembered as failing: the memory of a process has a bound, and they fail again soon enough. */
const FAILING_MAX = 1_000
const SWEEP_MS = 3_600_000
const REMOVED_PER_PASS = 1_000

export interface WebhookTimes {
  /** How often a lane without work looks for some. */
  lookMs: number
  retrySeconds: readonly number[]
  /** How long a webhook is left alone after a try that failed. */
  pauseMs: number
}

export interface WebhookSenderDeps {
  db: Db
  keyRing: KeyRing
  client: WebhookClient
  times: WebhookTimes
  notes: SweepNotes
  log: Logger
}

export function startWebhookSender(deps: WebhookSenderDeps): TimerLoop {
  const { db, times, notes, log } = deps
  const underWay = new Set<string>()
  /** Webhooks whose last try failed, and until when each is left alone, by the monotonic clock. */
  const failing = new Map<string, number>()
  let taking: Promise<unknown> = Promise.resolve()

  async function lanePass(failingToo: boolean): Promise<boolean | Pass> {
    const taken = await takeNext(failingToo)
    if (!taken) return false
    try {
      await tryOnce(taken)
    } finally {
      underWay.delete(taken.webhook.id)
    }
    return { more: true, handled: 1 }
  }
  const note = notes.of('webhooks', times.lookMs)
  const lanes = Array.from({ length: CONNECTIONS }, (_, lane) =>
    startLoop('webhooks', times.lookMs, log, () => lanePass(lane < LANES_FOR_FAILING), note)
  )
  async function sweepPass(): Promise<Pass> {
    const removed = await removeOldDeliveries(db, REMOVED_PER_PASS)
    return { more: removed === REMOVED_PER_PASS, handled: removed }
  }
  const sweep = startLoop('webhook_log', SWEEP_MS, log, sweepPass, notes.of('webhook_log', SWEEP_MS))

  /** One lane at a time, so that two do not take of the same webhook. */
  function takeNext(failingToo: boolean): Promise<TakenDelivery | null> {
    const next = taking.then(async () => {
      const at = performance.now()
      const leftAlone = [...failing].filter(([, until]) => !failingToo || until > at).map(([id]) => id)
      const taken = await takeDelivery(db, [...underWay, ...leftAlone])
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
    const state = await finishTry(db, taken, outcome, times.retrySeconds)
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
    async close() {
      await Promise.all([...lanes, sweep].map((loop) => loop.close()))
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
    return { status: null, error: 'the signing secret cannot be opened; delete this webhook and make it anew' }
  }
  return client.send({ id: taken.id, url: webhook.url, secret, payload: taken.payload })
}
