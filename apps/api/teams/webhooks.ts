// A team's webhooks and their delivery logs: /api/team/webhooks.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { DbOrTx } from '../../../db/client.js'
import { newId } from '../../../db/ids.js'
import type { Membership } from '../../../db/teams/memberships.js'
import {
  type DeliveryRow,
  listDeliveries,
  loadDelivery,
  recordTest,
  sendAgain
} from '../../../db/teams/webhook-deliveries.js'
import { createWebhook, deleteWebhook, listWebhooks, teamOfWebhook } from '../../../db/teams/webhooks.js'
import { codeOf, ServiceError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import {
  BEING_SENT,
  privateHost,
  readWebhookUrl,
  URL_MAX,
  WEBHOOKS_PER_TEAM_MAX,
  webhookEvents
} from '../../../domain/teams/webhook.js'
import { type KeyRing, webhookContext } from '../../../services/keys/key-ring.js'
import { isPublicAddress, literalAddress } from '../../../services/webhooks/public-address.js'
import { newWebhookSecret } from '../../../services/webhooks/webhook-client.js'
import type { ApiDeps } from '../deps.js'
import { ownerForWrite, readTeam, teamForWrite, userOf } from '../http/access.js'
import { ShownOnce, shownOnce } from '../http/idempotency.js'
import { done, json, success } from '../http/response.js'
import { Delivery, deliveryView, NewWebhook, Webhook, webhookView } from './webhook-view.js'

const Uuid = Type.String({ format: 'uuid' })
const OptionalTeam = Type.Object({ team_id: Type.Optional(Uuid) })
const WebhookId = Type.Object({ id: Uuid })

const NewWebhookBody = Type.Object(
  {
    team_id: Type.Optional(Uuid),
    url: Type.String({ minLength: 1, maxLength: URL_MAX, description: 'Where each event is sent by POST; https' }),
    events: Type.Array(oneOf(webhookEvents), { minItems: 1, maxItems: webhookEvents.length })
  },
  { additionalProperties: false }
)

export const webhookRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/team/webhooks',
    {
      schema: {
        tags: ['webhooks'],
        summary: "A team's webhooks (owner and admins); never their secrets",
        querystring: OptionalTeam,
        response: { 200: json('The webhooks', Type.Object({ webhooks: Type.Array(Webhook) })) }
      }
    },
    async (request) => {
      const team = await readTeam(request, db, request.query.team_id)
      if (!team) return { webhooks: [] }
      return { webhooks: (await listWebhooks(db, team.id)).map((row) => webhookView(request, team, row)) }
    }
  )

  app.post(
    '/api/team/webhooks',
    {
      schema: {
        tags: ['webhooks'],
        summary: 'Send events of a team to an address (owner and admins); `secret` is shown only once',
        description: 'Messages are signed after the Standard Webhooks convention; docs/webhooks.md describes them.',
        body: NewWebhookBody,
        response: {
          201: json('The webhook; without its secret when the request is repeated', Type.Union([NewWebhook, ShownOnce]))
        },
        errors: ['conflict', 'not_available']
      }
    },
    async (request, reply) => {
      const { team_id, url, events } = request.body
      const secret = newWebhookSecret()
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, team_id ?? null, 'update')
        const keyRing = keyRingOf(deps)
        const address = readReceiver(url, deps.config.webhookAllowPrivate)
        if ((await listWebhooks(tx, teamId)).length >= WEBHOOKS_PER_TEAM_MAX)
          throw new ServiceError(
            'conflict',
            `The team has ${WEBHOOKS_PER_TEAM_MAX} webhooks, which is the most; delete one first`
          )
        const id = newId()
        const { sealedValue, ...wrapped } = keyRing.seal(secret, webhookContext({ teamId, id }))
        const row = await createWebhook(tx, {
          id,
          teamId,
          url: address,
          events: [...new Set(events)],
          ...wrapped,
          sealedSecret: sealedValue,
          createdBy: userOf(request).id
        })
        return {
          status: 201,
          body: { ...webhookView(request, (await readTeam(request, tx, teamId))!, row), secret },
          kept: shownOnce(id, 'secret')
        }
      })
    }
  )

  app.delete(
    '/api/team/webhooks/:id',
    {
      schema: {
        tags: ['webhooks'],
        summary: 'Delete a webhook with its log (owner and admins); pending deliveries are cancelled',
        params: WebhookId,
        response: { 200: done }
      }
    },
    async (request, reply) => {
      const { id } = request.params
      return app.writeOnce(request, reply, async ({ tx }) => {
        await ownerForWrite(request, tx, await teamOfWebhook(tx, id), 'webhook')
        if (!(await deleteWebhook(tx, id))) throw unknownWebhook()
        return { body: success }
      })
    }
  )

  app.get(
    '/api/team/webhooks/:id/deliveries',
    {
      schema: {
        tags: ['webhooks'],
        summary: 'The newest 100 deliveries of a webhook, newest first (owner and admins)',
        params: WebhookId,
        response: { 200: json('The log', Type.Object({ deliveries: Type.Array(Delivery) })) }
      }
    },
    async (request) => {
      const { id } = request.params
      const team = await teamToRead(request, db, await teamOfWebhook(db, id))
      const now = deps.now()
      return { deliveries: (await listDeliveries(db, id)).map((row) => deliveryView(request, team, row, now)) }
    }
  )

  app.post(
    '/api/team/webhooks/:id/test',
    {
      schema: {
        tags: ['webhooks'],
        summary: 'Send a test to a webhook (owner and admins)',
        description:
          'A delivery of the event `webhook.test`, signed like any other, whatever the webhook subscribes to. It is tried once; the log shows how it went.',
        params: WebhookId,
        response: { 201: json('The delivery, which a worker sends', Delivery) },
        errors: ['not_available']
      }
    },
    async (request, reply) => {
      const { id } = request.params
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await ownerForWrite(request, tx, await teamOfWebhook(tx, id), 'webhook')
        keyRingOf(deps)
        const delivery = await recordTest(tx, id, teamId)
        if (!delivery) throw unknownWebhook()
        return { status: 201, body: await shownDelivery(request, tx, teamId, delivery) }
      })
    }
  )

  app.post(
    '/api/team/webhooks/:id/deliveries/:deliveryId/again',
    {
      schema: {
        tags: ['webhooks'],
        summary: 'Send a delivery again, now (owner and admins)',
        description:
          'The message has the same id and body, so a receiver that remembers ids sees a repetition. After the last retry it is one further try. 409 while the delivery is being sent.',
        params: Type.Object({ id: Uuid, deliveryId: Uuid }),
        response: { 200: json('The delivery, which a worker sends', Delivery) },
        errors: ['conflict', 'not_available']
      }
    },
    async (request, reply) => {
      const { id, deliveryId } = request.params
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await ownerForWrite(request, tx, await teamOfWebhook(tx, id), 'webhook')
        keyRingOf(deps)
        const known = await loadDelivery(tx, id, deliveryId)
        if (!known) throw new ServiceError('not_found', 'no such delivery')
        if (!(await sendAgain(tx, deliveryId))) throw new ServiceError('conflict', BEING_SENT)
        return { body: await shownDelivery(request, tx, teamId, (await loadDelivery(tx, id, deliveryId))!) }
      })
    }
  )

  const shownDelivery = async (request: FastifyRequest, tx: DbOrTx, teamId: string, delivery: DeliveryRow) =>
    deliveryView(request, (await readTeam(request, tx, teamId))!, delivery, deps.now())
}

/** Non-members get the same 404 as for an id that does not exist. */
async function teamToRead(request: FastifyRequest, db: DbOrTx, teamId: string | null): Promise<Membership> {
  if (teamId === null) throw unknownWebhook()
  const team = await readTeam(request, db, teamId).catch((error) => {
    throw codeOf(error) === 'not_found' ? unknownWebhook() : error
  })
  return team!
}

const unknownWebhook = () => new ServiceError('not_found', 'no such webhook')

/** A literal private address is refused here. Names are resolved and checked at each delivery. */
function readReceiver(text: string, allowPrivate: boolean): string {
  const address = readWebhookUrl(text, allowPrivate)
  const literal = literalAddress(new URL(address))
  if (!allowPrivate && literal !== null && !isPublicAddress(literal)) throw privateHost()
  return address
}

/** @throws ServiceError `not_available` in a development service that was started without keys. */
function keyRingOf({ keyRing }: ApiDeps): KeyRing {
  if (keyRing) return keyRing
  throw new ServiceError(
    'not_available',
    "webhooks: this service has no key to seal signing secrets with; its operator sets SECRETS_KEYS, or starts it with 'npm start', which makes one"
  )
}
