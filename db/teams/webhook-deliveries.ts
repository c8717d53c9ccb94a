// Webhook deliveries and their log. A delivery is inserted with the change that it reports. The sender takes a due one,
// sends it outside of any transaction, and records the outcome. A try counts when it is taken, and the count is the
// fence: a sender that took too long can no longer record.
import { and, asc, desc, eq, gt, inArray, lt, lte, ne, not, or, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { type BudgetRefusal, budgetRefusalBody } from '../../domain/money/budget.js'
import { DELIVERY_DAYS, type DeliveryState, TAKEN_SECONDS, type WebhookEvent } from '../../domain/teams/webhook.js'
import { anyOf, type Db, type DbOrTx } from '../client.js'
import { firstIdAt, newId } from '../ids.js'
import { jobs } from '../tables/jobs.js'
import { webhookDeliveries, webhooks } from '../tables/teams.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LOG_MAX = 100

/** One id per row of a statement that inserts several: the time is this process's, the randomness is the database's. */
const deliveryId = (): SQL =>
  sql`overlay(gen_random_uuid()::text placing ${newId().slice(0, 15)}::text from 1 for 15)::uuid`

const instantText = (column: AnyPgColumn): SQL =>
  sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const usd = (column: AnyPgColumn): SQL => sql`trim_scale(${column}::numeric / 1000000)`

const wants = (event: WebhookEvent): SQL => sql`${webhooks.events} ? ${event}`

/** Whether a webhook of the team subscribes to the event, as a part of a statement. */
export const hasSubscriber = (event: WebhookEvent, teamId: SQL | string): SQL =>
  sql`exists (select 1 from ${webhooks} where ${webhooks.teamId} = ${teamId} and ${wants(event)})`

/**
 * Inserts the deliveries of a job's end, one for each subscribed webhook of its team. Must run in the transaction
 * that ends the job, after its row has the final status. The statement waits for a webhook that is being deleted
 * concurrently and skips it: it must not make the job's end fail.
 */
export async function recordEnd(tx: DbOrTx, jobId: string, event: WebhookEvent): Promise<void> {
  const payload = sql`json_build_object(
    'type', ${event}::text,
    'timestamp', ${instantText(jobs.completedAt)},
    'data', json_build_object(
      'job_id', ${jobs.id}, 'team_id', ${jobs.teamId}, 'user_id', ${jobs.userId}, 'status', ${jobs.status},
      'backend', ${jobs.backend}, 'provider', ${jobs.provider}, 'execution_mode', ${jobs.mode}, 'shots', ${jobs.shots},
      'error_code', ${jobs.errorCode},
      'estimated_cost_usd', ${usd(jobs.estimatedCost)}, 'actual_cost_usd', ${usd(jobs.actualCost)},
      'created_at', ${instantText(jobs.createdAt)}, 'started_at', ${instantText(jobs.startedAt)},
      'completed_at', ${instantText(jobs.completedAt)}))::text`
  await tx.execute(sql`insert into ${webhookDeliveries} (id, webhook_id, event, payload, state, next_at)
    select ${deliveryId()}, ${webhooks.id}, ${event}, ${payload}, 'pending', now()
    from ${jobs} join ${webhooks} on ${webhooks.teamId} = ${jobs.teamId} and ${wants(event)}
    where ${jobs.id} = ${jobId}
    for key share of ${webhooks}`)
}

/**
 * Notifies a team's webhooks that a submission exceeded its daily or monthly budget. At most once an hour for each of
 * the two, since refused programs tend to retry. Other refusals concern a single submission and send no event.
 */
export async function recordBudgetExceeded(
  db: Db,
  refused: { teamId: string; backend: string; refusal: BudgetRefusal }
): Promise<void> {
  const { teamId, backend, refusal } = refused
  const { limit } = refusal
  if (limit !== 'daily' && limit !== 'monthly') return
  const event: WebhookEvent = 'budget.exceeded'
  const at = new Date()
  const data = { team_id: teamId, limit, backend, ...budgetRefusalBody(refusal).fields }
  const payload = JSON.stringify({ type: event, timestamp: at.toISOString(), data })
  await db.transaction(async (tx) => {
    // Serialised per team and limit: two concurrent refusals would not see each other's delivery.
    const [listener] = await tx.execute(sql`
      select pg_advisory_xact_lock(hashtextextended(${`${event} ${teamId} ${limit}`}, 0))
      where ${hasSubscriber(event, teamId)}`)
    if (!listener) return
    await tx.execute(sql`insert into ${webhookDeliveries} (id, webhook_id, event, payload, state, next_at)
      select ${deliveryId()}, ${webhooks.id}, ${event}, ${payload}, 'pending', now()
      from ${webhooks}
      where ${webhooks.teamId} = ${teamId} and ${wants(event)} and not exists (
        select 1 from ${webhookDeliveries} recent
        where recent.webhook_id = ${webhooks.id} and recent.event = ${event}
          and recent.id >= ${firstIdAt(new Date(at.getTime() - HOUR_MS))}
          and recent.payload::json #>> '{data,limit}' = ${limit})
      for key share of ${webhooks}`)
  })
}

/** Notifies the team's subscribed webhooks, in the transaction of the reported change. @param data ids and figures. */
export async function recordTeamEvent(
  tx: DbOrTx,
  teamId: string,
  event: WebhookEvent,
  data: Record<string, unknown>
): Promise<void> {
  const payload = JSON.stringify({ type: event, timestamp: new Date().toISOString(), data })
  await tx.execute(sql`insert into ${webhookDeliveries} (id, webhook_id, event, payload, state, next_at)
    select ${deliveryId()}, ${webhooks.id}, ${event}, ${payload}, 'pending', now()
    from ${webhooks}
    where ${webhooks.teamId} = ${teamId} and ${wants(event)}
    for key share of ${webhooks}`)
}

/** What the sender needs for one try; `tries` includes it. */
export type TakenDelivery = NonNullable<Awaited<ReturnType<typeof takeDelivery>>>

/**
 * Takes the delivery that has been due longest, or returns `null` when none is due. Skips deliveries that other senders
 * are taking, and the webhooks in `except`.
 */
export async function takeDelivery(db: DbOrTx, except: string[]) {
  // `now()` is constant within the statement, so the index scan can stop at rows that are not due yet.
  const due = db.$with('due').as(
    db
      .select({ id: webhookDeliveries.id })
      .from(webhookDeliveries)
      .where(
        and(
          eq(webhookDeliveries.state, 'pending'),
          lte(webhookDeliveries.nextAt, sql`now()`),
          not(anyOf(webhookDeliveries.webhookId, except))
        )
      )
      .orderBy(asc(webhookDeliveries.nextAt))
      .limit(1)
      .for('update', { skipLocked: true })
  )
  const [taken] = await db
    .with(due)
    .update(webhookDeliveries)
    .set({
      tries: sql`${webhookDeliveries.tries} + 1`,
      nextAt: sql`now() + make_interval(secs => ${TAKEN_SECONDS})`
    })
    .from(due)
    .innerJoin(webhooks, sql`true`)
    .where(and(eq(webhookDeliveries.id, due.id), eq(webhooks.id, webhookDeliveries.webhookId)))
    .returning({
      id: webhookDeliveries.id,
      event: webhookDeliveries.event,
      payload: webhookDeliveries.payload,
      tries: webhookDeliveries.tries,
      webhook: {
        id: webhooks.id,
        teamId: webhooks.teamId,
        url: webhooks.url,
        ringKeyId: webhooks.ringKeyId,
        wrappedKey: webhooks.wrappedKey,
        sealedSecret: webhooks.sealedSecret
      }
    })
  return taken ?? null
}

/**
 * Records the outcome of a try. A failed one is due again after its time in `retrySeconds`; when there is none left,
 * the delivery has failed.
 * @returns the delivery's state; `null` when another sender has it by now, or it was deleted.
 */
export async function finishTry(
  db: DbOrTx,
  taken: { id: string; tries: number },
  outcome: { status: number | null; error: string | null },
  retrySeconds: readonly number[]
): Promise<DeliveryState | null> {
  const wait = retrySeconds[taken.tries - 1]
  const state: DeliveryState = outcome.error === null ? 'delivered' : wait === undefined ? 'failed' : 'pending'
  const [row] = await db
    .update(webhookDeliveries)
    .set({
      state,
      lastStatus: outcome.status,
      lastError: outcome.error,
      ...(state === 'delivered' && { deliveredAt: sql`now()` }),
      ...(state === 'pending' && { nextAt: sql`now() + make_interval(secs => ${wait})` })
    })
    .where(
      and(
        eq(webhookDeliveries.id, taken.id),
        eq(webhookDeliveries.tries, taken.tries),
        eq(webhookDeliveries.state, 'pending')
      )
    )
    .returning({ state: webhookDeliveries.state })
  return row?.state ?? null
}

const logColumns = {
  id: webhookDeliveries.id,
  event: webhookDeliveries.event,
  state: webhookDeliveries.state,
  tries: webhookDeliveries.tries,
  lastStatus: webhookDeliveries.lastStatus,
  lastError: webhookDeliveries.lastError,
  createdAt: webhookDeliveries.createdAt,
  deliveredAt: webhookDeliveries.deliveredAt,
  nextAt: webhookDeliveries.nextAt
}

export type DeliveryRow = { [name in keyof typeof logColumns]: (typeof webhookDeliveries.$inferSelect)[name] }

/** The newest deliveries of a webhook, newest first. */
export async function listDeliveries(db: DbOrTx, webhookId: string): Promise<DeliveryRow[]> {
  return db
    .select(logColumns)
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.webhookId, webhookId))
    .orderBy(desc(webhookDeliveries.id))
    .limit(LOG_MAX)
}

/** Records a test of a webhook, which the sender delivers like any event. `null` when the webhook was deleted. */
export async function recordTest(tx: DbOrTx, webhookId: string, teamId: string): Promise<DeliveryRow | null> {
  const id = newId()
  const payload = JSON.stringify({
    type: 'webhook.test',
    timestamp: new Date().toISOString(),
    data: { team_id: teamId, webhook_id: webhookId }
  })
  await tx.execute(sql`insert into ${webhookDeliveries} (id, webhook_id, event, payload, state, next_at)
    select ${id}, ${webhooks.id}, 'webhook.test', ${payload}, 'pending', now()
    from ${webhooks} where ${webhooks.id} = ${webhookId} for key share of ${webhooks}`)
  return loadDelivery(tx, webhookId, id)
}

/** `null` when the webhook has no such delivery. */
export async function loadDelivery(db: DbOrTx, webhookId: string, id: string): Promise<DeliveryRow | null> {
  const [row] = await db
    .select(logColumns)
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.webhookId, webhookId)))
  return row ?? null
}

/**
 * Makes a delivery due now. Its tries count on, so one that used up its retries gets a single further try.
 * @returns `false` while a sender has it: the condition is that of `assertSendsAgain`.
 */
export async function sendAgain(tx: DbOrTx, id: string): Promise<boolean> {
  const rows = await tx
    .update(webhookDeliveries)
    .set({ state: 'pending', nextAt: sql`now()` })
    .where(
      and(
        eq(webhookDeliveries.id, id),
        or(
          ne(webhookDeliveries.state, 'pending'),
          gt(webhookDeliveries.nextAt, sql`now() + make_interval(secs => ${TAKEN_SECONDS})`)
        )
      )
    )
    .returning({ id: webhookDeliveries.id })
  return rows.length > 0
}

/** Removes at most `limit` deliveries whose time in the log is over. @returns how many. */
export async function removeOldDeliveries(db: DbOrTx, limit: number): Promise<number> {
  const old = db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(lt(webhookDeliveries.id, firstIdAt(new Date(Date.now() - DELIVERY_DAYS * DAY_MS))))
    .limit(limit)
    .for('update', { skipLocked: true })
  const removed = await db
    .delete(webhookDeliveries)
    .where(inArray(webhookDeliveries.id, old))
    .returning({ id: webhookDeliveries.id })
  return removed.length
}
