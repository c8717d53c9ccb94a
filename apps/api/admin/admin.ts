// Platform administration: /api/admin/*. Other callers get the same 404 as for a route that does not exist.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ApiDeps } from '../deps.js'
import type { Nudge } from '../jobs/nudge.js'
import type { BackendCatalogue } from '../service/backends.js'
import { adminBudgetRoutes } from '../teams/budgets.js'
import { adminAccessCodeRoutes } from './admin-access-codes.js'
import { adminAuditRoutes } from './admin-audit.js'
import { adminBackendRoutes } from './admin-backends.js'
import { adminCapsuleRoutes } from './admin-capsules.js'
import { adminJobRoutes } from './admin-jobs.js'
import { adminMoneyRoutes } from './admin-money.js'
import { adminPeopleRoutes } from './admin-people.js'
import { adminStorageRoutes } from './admin-storage.js'
import { adminSystemRoutes } from './admin-system.js'

export const adminRoutes: FastifyPluginAsyncTypebox<{
  deps: ApiDeps
  catalogue: BackendCatalogue
  nudge: Nudge
}> = async (app, { deps, catalogue, nudge }) => {
  await app.register(adminPeopleRoutes, { deps })
  await app.register(adminAccessCodeRoutes, { deps })
  await app.register(adminBackendRoutes, { catalogue })
  await app.register(adminBudgetRoutes, { deps })
  await app.register(adminCapsuleRoutes, { deps })
  await app.register(adminJobRoutes, { deps, nudge })
  await app.register(adminMoneyRoutes, { deps })
  await app.register(adminAuditRoutes, { deps })
  await app.register(adminStorageRoutes, { deps })
  await app.register(adminSystemRoutes, { deps })
}
