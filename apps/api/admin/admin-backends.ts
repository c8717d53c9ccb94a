// Platform administration of the backend catalogue.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { differences, lockBackend } from '../../../db/admin/administration.js'
import { recordAdminAction } from '../../../db/audit/admin-audit.js'
import { changeBackend } from '../../../db/backends/backends.js'
import { type Backend, backendStatuses, backendView } from '../../../domain/backends/backend.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { type Pricing, SECONDS_MAX, type TimePrice } from '../../../domain/money/cost.js'
import { type MicroUsd, microFromUsd } from '../../../domain/money/money.js'
import { userOf } from '../http/access.js'
import { json, nullable } from '../http/response.js'
import { Backend as BackendSchema } from '../service/backend-view.js'
import type { BackendCatalogue } from '../service/backends.js'

const Price = Type.Number({ minimum: 0, maximum: 1_000_000 })

export const adminBackendRoutes: FastifyPluginAsyncTypebox<{ catalogue: BackendCatalogue }> = async (
  app,
  { catalogue }
) => {
  app.patch(
    '/api/admin/backends/:slug',
    {
      schema: {
        tags: ['administration'],
        summary: 'Change a backend; prices hold for jobs submitted from now on',
        params: Type.Object({ slug: Type.String({ maxLength: 100 }) }),
        body: Type.Object(
          {
            status: Type.Optional(oneOf(backendStatuses)),
            isAvailable: Type.Optional(Type.Boolean()),
            pricing: Type.Optional(
              Type.Object(
                {
                  taskFee: Type.Optional(Price),
                  perShot: Type.Optional(Price),
                  minimumCost: Type.Optional(Price),
                  perSecond: Type.Optional(nullable(Price, 'Of the machine; `null` for a device not billed by time')),
                  secondsMax: Type.Optional(
                    nullable(
                      Type.Integer({ minimum: 1, maximum: SECONDS_MAX }),
                      'The cap of one circuit: reserved for, and sent to the provider. Set with `perSecond`, or neither'
                    )
                  )
                },
                { additionalProperties: false, minProperties: 1 }
              )
            ),
            description: Type.Optional(Type.Union([Type.String({ maxLength: 1000 }), Type.Null()])),
            isRecommended: Type.Optional(Type.Boolean()),
            displayOrder: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }))
          },
          { additionalProperties: false, minProperties: 1 }
        ),
        response: { 200: json('The backend', BackendSchema) }
      }
    },
    async (request, reply) => {
      const { slug } = request.params
      const { pricing, ...change } = request.body
      return app.writeOnce(request, reply, async ({ tx, afterCommit }) => {
        const present = await lockBackend(tx, slug)
        if (!present) throw new ServiceError('not_found', `no backend is called ${JSON.stringify(slug)}`)
        const changed = (await changeBackend(tx, slug, {
          ...change,
          ...(pricing && { pricing: readPricing(pricing, present) })
        }))!
        const [before, after] = [present, changed].map((backend) => fieldsOf(backend, Object.keys(request.body)))
        await recordAdminAction(tx, userOf(request), 'backend.change', slug, differences(before!, after!))
        afterCommit(() => catalogue.forget())
        return { body: backendView(changed) }
      })
    }
  )
}

/**
 * The fields as an administrator sets them; the view shows whether a backend can be used, which follows from several fields.
 */
function fieldsOf(backend: Backend, names: string[]): Record<string, unknown> {
  const { pricing } = backendView(backend)
  return Object.fromEntries(Object.entries({ ...backend, pricing }).filter(([name]) => names.includes(name)))
}

type GivenPricing = Partial<Record<'taskFee' | 'perShot' | 'minimumCost', number>> & {
  perSecond?: number | null
  secondsMax?: number | null
}

function readPricing(given: GivenPricing, { pricing: present, engine, slug }: Backend): Pricing {
  const price = (name: 'taskFee' | 'perShot' | 'minimumCost') => readPrice(name, given[name]) ?? present[name]
  const byTime = readTimePrice(given, present.byTime)
  if (byTime && engine !== null)
    throw validationError(`pricing.perSecond: ${slug} is a simulator of this service, which has no time to bill`)
  return { taskFee: price('taskFee'), perShot: price('perShot'), minimumCost: price('minimumCost'), byTime }
}

/** A field that is left out stays as it is. */
function readTimePrice({ perSecond, secondsMax }: GivenPricing, present: TimePrice | null): TimePrice | null {
  const price = perSecond === undefined ? (present?.perSecond ?? null) : readPrice('perSecond', perSecond)
  const seconds = secondsMax === undefined ? (present?.secondsMax ?? null) : secondsMax
  if (price === null && seconds === null) return null
  if (price === null || seconds === null)
    throw validationError(
      'pricing: perSecond and secondsMax go together, since the estimate is their product; set both, or both to null'
    )
  return { perSecond: price, secondsMax: seconds }
}

function readPrice(name: keyof GivenPricing, usd: number | null | undefined): MicroUsd | null {
  if (usd == null) return null
  const micro = microFromUsd(usd)
  if (micro === null)
    throw validationError(`pricing.${name}: prices finer than a micro-dollar are refused (got ${usd})`)
  return micro
}
