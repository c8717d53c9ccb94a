// Platform administration: /api/admin/*. To everybody else these routes do not exist.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeBackend, findBackend } from '../../../db/backends.js'
import { backendView } from '../../../domain/backend.js'
import type { Pricing } from '../../../domain/cost.js'
import { ServiceError } from '../../../domain/errors.js'
import { microFromUsd } from '../../../domain/money.js'
import type { ApiDeps } from '../deps.js'
import type { BackendCatalogue } from './backends.js'
import { adminBudgetRoutes } from './budgets.js'

const Price = Type.Number({ minimum: 0, maximum: 1_000_000 })

export const adminRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; catalogue: BackendCatalogue }> = async (
  app,
  { deps, catalogue }
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
            status: Type.Optional(
              Type.Unsafe<'online' | 'offline' | 'maintenance'>({
                type: 'string',
                enum: ['online', 'offline', 'maintenance']
              })
            ),
            isAvailable: Type.Optional(Type.Boolean()),
            pricing: Type.Optional(
              Type.Object(
                { taskFee: Type.Optional(Price), perShot: Type.Optional(Price), minimumCost: Type.Optional(Price) },
                { additionalProperties: false, minProperties: 1 }
              )
            ),
            description: Type.Optional(Type.Union([Type.String({ maxLength: 1000 }), Type.Null()])),
            isRecommended: Type.Optional(Type.Boolean()),
            displayOrder: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }))
          },
          { additionalProperties: false, minProperties: 1 }
        )
      }
    },
    async (request) => {
      const { slug } = request.params
      const { pricing, ...change } = request.body
      const present = await findBackend(deps.db, slug)
      if (!present) throw new ServiceError('not_found', `no backend is called ${JSON.stringify(slug)}`)
      const changed = await changeBackend(deps.db, slug, {
        ...change,
        ...(pricing && { pricing: readPricing(pricing, present.pricing) })
      })
      catalogue.forget()
      return backendView(changed ?? present)
    }
  )

  await app.register(adminBudgetRoutes, { deps })
}

function readPricing(given: Partial<Record<keyof Pricing, number>>, present: Pricing): Pricing {
  const price = (name: keyof Pricing) => {
    const usd = given[name]
    if (usd === undefined) return present[name]
    const micro = microFromUsd(usd)
    if (micro === null)
      throw new ServiceError(
        'validation_error',
        `pricing.${name}: prices finer than a micro-dollar are refused (got ${usd})`
      )
    return micro
  }
  return { taskFee: price('taskFee'), perShot: price('perShot'), minimumCost: price('minimumCost') }
}
