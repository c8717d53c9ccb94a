// A team's webhooks. Signing secrets are passed sealed (services/keys/key-ring.ts); deliveries are in
// db/teams/webhook-deliveries.ts.
import { asc, eq } from 'drizzle-orm'
import type { WebhookEvent } from '../../domain/teams/webhook.js'
import type { DbOrTx } from '../client.js'
import { webhooks } from '../tables/teams.js'

export type NewWebhook = Omit<typeof webhooks.$inferInsert, 'createdAt' | 'events'> & { events: WebhookEvent[] }

const shownColumns = {
  id: webhooks.id,
  teamId: webhooks.teamId,
  url: webhooks.url,
  events: webhooks.events,
  createdAt: webhooks.createdAt
}

/** A webhook without its secret. */
export type WebhookRow = { [name in keyof typeof shownColumns]: (typeof webhooks.$inferSelect)[name] }

/** A team's webhooks, oldest first. Their number is limited. */
export async function listWebhooks(db: DbOrTx, teamId: string): Promise<WebhookRow[]> {
  return db.select(shownColumns).from(webhooks).where(eq(webhooks.teamId, teamId)).orderBy(asc(webhooks.id))
}

/** The caller supplies the id, since the secret is sealed for it. */
export async function createWebhook(tx: DbOrTx, given: NewWebhook): Promise<WebhookRow> {
  const [row] = await tx.insert(webhooks).values(given).returning(shownColumns)
  return row!
}

/** The team that a webhook belongs to; `null` when there is no such webhook. */
export async function teamOfWebhook(db: DbOrTx, id: string): Promise<string | null> {
  const [row] = await db.select({ teamId: webhooks.teamId }).from(webhooks).where(eq(webhooks.id, id))
  return row?.teamId ?? null
}

/** Deletes a webhook with all its deliveries. Returns `false` when it was deleted before. */
export async function deleteWebhook(tx: DbOrTx, id: string): Promise<boolean> {
  const rows = await tx.delete(webhooks).where(eq(webhooks.id, id)).returning({ id: webhooks.id })
  return rows.length > 0
}
