// A webhook and its deliveries as the managers of its team see them.
import { type Static, Type } from 'typebox'
import type { DeliveryRow } from '../../../db/teams/webhook-deliveries.js'
import type { WebhookRow } from '../../../db/teams/webhooks.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { deliveryStates, webhookEvents } from '../../../domain/teams/webhook.js'
import { count, nullable, text, time, uuid } from '../http/response.js'

export const Webhook = Type.Object(
  { id: uuid, team_id: uuid, url: text, events: Type.Array(oneOf(webhookEvents)), created_at: time },
  { $id: 'Webhook' }
)

export const NewWebhook = Type.Object(
  {
    ...Webhook.properties,
    secret: Type.String({ description: 'The secret that signs its messages, shown only once' })
  },
  { $id: 'NewWebhook' }
)

export const Delivery = Type.Object(
  {
    id: uuid,
    event: oneOf(webhookEvents),
    state: oneOf(deliveryStates),
    tries: count,
    last_status: nullable(Type.Integer()),
    last_error: nullable(text),
    created_at: time,
    delivered_at: nullable(time)
  },
  { $id: 'Delivery' }
)

export const webhookView = (row: WebhookRow): Static<typeof Webhook> => ({
  id: row.id,
  team_id: row.teamId,
  url: row.url,
  events: row.events,
  created_at: row.createdAt.toISOString()
})

export const deliveryView = (row: DeliveryRow): Static<typeof Delivery> => ({
  id: row.id,
  event: row.event,
  state: row.state,
  tries: row.tries,
  last_status: row.lastStatus,
  last_error: row.lastError,
  created_at: row.createdAt.toISOString(),
  delivered_at: row.deliveredAt?.toISOString() ?? null
})
