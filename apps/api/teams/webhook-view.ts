// A webhook and its deliveries as the managers of its team see them.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Membership } from '../../../db/teams/memberships.js'
import type { DeliveryRow } from '../../../db/teams/webhook-deliveries.js'
import type { WebhookRow } from '../../../db/teams/webhooks.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { assertSendsAgain, deliveryEvents, deliveryStates, webhookEvents } from '../../../domain/teams/webhook.js'
import { count, nullable, text, time, uuid } from '../http/response.js'
import { mayIn, Verdict } from '../http/verdict.js'
import { WebhookActions, webhookActions } from './can/team-actions.js'

export const Webhook = Type.Object(
  {
    id: uuid,
    team_id: uuid,
    url: text,
    events: Type.Array(oneOf(webhookEvents)),
    created_at: time,
    can: WebhookActions
  },
  { $id: 'Webhook' }
)

export const NewWebhook = Type.Object(
  {
    ...Webhook.properties,
    secret: Type.String({ description: 'The secret that signs its messages, shown only once' })
  },
  { $id: 'NewWebhook' }
)

const DeliveryActions = Type.Object(
  { send_again: Verdict },
  { $id: 'DeliveryActions', description: '`true`, or the words with which a request would be refused now' }
)

export const Delivery = Type.Object(
  {
    id: uuid,
    event: oneOf(deliveryEvents),
    state: oneOf(deliveryStates),
    tries: count,
    last_status: nullable(Type.Integer()),
    last_error: nullable(text),
    created_at: time,
    delivered_at: nullable(time),
    next_try_at: nullable(time, 'Of a pending delivery'),
    can: DeliveryActions
  },
  { $id: 'Delivery' }
)

export const webhookView = (request: FastifyRequest, team: Membership, row: WebhookRow): Static<typeof Webhook> => ({
  id: row.id,
  team_id: row.teamId,
  url: row.url,
  events: row.events,
  created_at: row.createdAt.toISOString(),
  can: webhookActions(request, team)
})

export const deliveryView = (
  request: FastifyRequest,
  team: Membership,
  row: DeliveryRow,
  now: Date
): Static<typeof Delivery> => ({
  id: row.id,
  event: row.event,
  state: row.state,
  tries: row.tries,
  last_status: row.lastStatus,
  last_error: row.lastError,
  created_at: row.createdAt.toISOString(),
  delivered_at: row.deliveredAt?.toISOString() ?? null,
  next_try_at: row.state === 'pending' ? row.nextAt.toISOString() : null,
  can: {
    send_again: mayIn(request, team)('POST /api/team/webhooks/:id/deliveries/:deliveryId/again', () =>
      assertSendsAgain(row, now)
    )
  }
})
