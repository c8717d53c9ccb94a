// Builds the api. `server.ts` listens with it, and tests inject requests. access-table.ts defines who can call which route.
import { randomUUID } from 'node:crypto'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Ajv, type Options, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController
} from 'fastify'
import { authRoutes } from './accounts/auth.js'
import { oidcRoutes } from './accounts/oidc.js'
import { passwordRoutes } from './accounts/passwords.js'
import { profileRoutes } from './accounts/profile.js'
import { adminRoutes } from './admin/admin.js'
import { capsuleFileRoutes } from './capsules/capsule-files.js'
import { capsuleRunRoutes } from './capsules/capsule-runs.js'
import { capsuleScheduleRoutes } from './capsules/capsule-schedule.js'
import { capsuleStateRoutes } from './capsules/capsule-states.js'
import { capsuleVerificationRoutes } from './capsules/capsule-verifications.js'
import { capsuleRoutes } from './capsules/capsules.js'
import { publicCapsuleFileRoutes } from './capsules/public-capsule-files.js'
import { publicCapsuleRoutes } from './capsules/public-capsules.js'
import { schedulePreviewRoutes } from './capsules/schedule-preview.js'
import { capsuleTransferRoutes } from './capsules/transfer/capsule-transfer.js'
import { consoleRoutes } from './console/console.js'
import type { ApiDeps } from './deps.js'
import access from './http/access.js'
import { BODY_MAX } from './http/body/body-limits.js'
import jsonBody from './http/body/json-body.js'
import { readUnreadBodies } from './http/body/unread-body.js'
import errors, { sendFault } from './http/errors.js'
import largeContent from './http/large-content.js'
import originGuard from './http/origin-guard.js'
import { createSessions } from './http/session.js'
import submissions from './http/submissions.js'
import { logResponse } from './http/telemetry/request-log.js'
import tracing from './http/telemetry/tracing.js'
import noBody from './http/validation/no-body.js'
import { createFaultFinder, type Fault } from './http/validation/validation-faults.js'
import writeOnce from './http/write-once.js'
import { artifactRoutes } from './jobs/artifacts.js'
import { compareRoutes } from './jobs/compare/compare.js'
import { destinationRoutes } from './jobs/destinations/destinations.js'
import { estimateRoutes } from './jobs/estimate.js'
import { createEventStreams } from './jobs/event-stream.js'
import { teamEventRoutes } from './jobs/feed/team-events.js'
import { createTeamFeed } from './jobs/feed/team-feed.js'
import { jobDetailRoutes } from './jobs/job-details.js'
import { createJobStates } from './jobs/job-states.js'
import { createJobWaits } from './jobs/job-waits.js'
import { createJobWatches } from './jobs/job-watch.js'
import { jobRoutes } from './jobs/jobs.js'
import { managedRuntimeRoutes } from './jobs/managed-runtimes.js'
import { createNudge } from './jobs/nudge.js'
import { docsPage } from './openapi/docs-page.js'
import { openapiOptions } from './openapi/document.js'
import { playgroundRoutes } from './playground/playground.js'
import { scriptRoutes } from './scripts/scripts.js'
import { backendRoutes, createBackendCatalogue } from './service/backends.js'
import { providerRoutes } from './service/providers.js'
import { serviceRoutes } from './service/service.js'
import { apiKeyRoutes } from './teams/api-keys.js'
import { auditRoutes } from './teams/audit/audit.js'
import { budgetRoutes } from './teams/budgets.js'
import { invitationRoutes } from './teams/invitations.js'
import { keyRoutes } from './teams/keys.js'
import { memberRoutes } from './teams/members.js'
import { retentionRoutes } from './teams/retention.js'
import { secretRoutes } from './teams/secrets.js'
import { teamRoutes } from './teams/teams.js'
import { usageRoutes } from './teams/usage.js'
import { webhookRoutes } from './teams/webhooks.js'
import { API_VERSION } from './version.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The process is about to close: it serves on, says so to balancers, and keeps no connection alive. */
    startClosing: () => void
  }
}

/** For a package of 64 MiB, 2.2 MB a second. */
const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000

export async function buildApp(deps: ApiDeps, options: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: BODY_MAX,
    // The time to receive a request. Each route bounds the time of its response.
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      // How often Node looks for connections above these times; its default is 30 s.
      connectionsCheckingInterval: 2_000
    },
    // Requests that arrive while the service stops are handled normally: a refused poll would end a client's wait.
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    // Requests are logged by apps/api/http/telemetry/request-log.ts.
    logController: new LogController({ requestIdLogLabel: 'request_id', disableRequestLogging: true }),
    // The name of a file in a capsule: a folder of up to 240 characters, and a path in it.
    routerOptions: { maxParamLength: 500 },
    // http/json-body.ts refuses prototype keys by name.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    // Hooks do not run for requests that the router refuses.
    frameworkErrors: (error, request, reply) => {
      sendFault(error, request, withStandardHeaders(request, reply))
      logResponse(request, reply)
    },
    ...options
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setValidatorCompiler(({ schema, httpPart }) =>
    compiledLate(httpPart === 'body' ? bodies : parameters, schema as object)
  )
  // `schema.response` documents, types and tests responses. A serialiser made from it would drop fields and read results.
  app.setSerializerCompiler(() => JSON.stringify)

  readUnreadBodies(app.server)

  let closing = false
  const nudge = createNudge({ ...deps, ...deps.config, log: app.log })
  const watches = createJobWatches(deps.listener)
  const states = createJobStates(deps.db)
  const waits = createJobWaits(states, watches)
  const streams = createEventStreams(deps.db, states, watches, deps.streamTimes)
  const feed = createTeamFeed(deps.db, deps.listener, app.log, deps.now)
  app.decorate('startClosing', () => {
    closing = true
  })
  app.addHook('preClose', async () => {
    closing = true
    watches.close()
  })
  app.addHook('onClose', () => nudge.close())
  // Hooks of every request use callbacks: six promises cost a third of the time of a small response.
  app.addHook('onRequest', (request, reply, done) => {
    withStandardHeaders(request, reply).header('cache-control', 'no-store')
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // A kept-alive connection would hold the shutdown for more than a minute.
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })

  await app.register(tracing, { tracing: deps.tracing, trustedProxies: deps.limiter.trustedProxies })
  await app.register(errors, { disk: deps.disk })
  await app.register(submissions, { metrics: deps.metrics })
  await app.register(jsonBody)
  await app.register(noBody)
  await app.register(originGuard, { publicOrigin: deps.config.publicUrl && new URL(deps.config.publicUrl).origin })
  const secure = deps.config.publicUrl?.startsWith('https:') ?? false
  const sessions = createSessions({ secure })
  await app.register(access, { db: deps.db, sessions, limiter: deps.limiter })
  await app.register(largeContent, { db: deps.db, limits: deps.largeLimits })
  await app.register(writeOnce, deps)
  await app.register(swagger, openapiOptions({ secure }))
  await app.register(swaggerUi, docsPage)

  const catalogue = createBackendCatalogue(deps.db)
  await app.register(serviceRoutes, { deps, isClosing: () => closing })
  await app.register(providerRoutes, { deps })
  await app.register(consoleRoutes, { folder: deps.consoleFolder ?? null, db: deps.db })
  await app.register(backendRoutes, { db: deps.db, catalogue })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  await app.register(authRoutes, { deps, sessions })
  await app.register(oidcRoutes, { deps, sessions, secure })
  await app.register(passwordRoutes, { deps })
  await app.register(jobRoutes, { deps, nudge, waits })
  await app.register(jobDetailRoutes, { deps, nudge, streams })
  await app.register(teamEventRoutes, { streams, feed })
  await app.register(estimateRoutes, { deps })
  await app.register(destinationRoutes, { deps })
  await app.register(compareRoutes, { deps })
  await app.register(managedRuntimeRoutes, { deps })
  await app.register(artifactRoutes, { deps })
  await app.register(playgroundRoutes, { deps })
  await app.register(scriptRoutes, { deps })
  await app.register(capsuleRunRoutes, { deps, nudge })
  await app.register(capsuleScheduleRoutes, { deps })
  await app.register(capsuleVerificationRoutes, { deps })
  await app.register(capsuleFileRoutes, { deps })
  await app.register(schedulePreviewRoutes, { deps })
  await app.register(capsuleTransferRoutes, { deps })
  await app.register(capsuleRoutes, { deps })
  await app.register(capsuleStateRoutes, { deps })
  await app.register(publicCapsuleRoutes, { deps })
  await app.register(publicCapsuleFileRoutes, { deps })
  await app.register(budgetRoutes, { deps })
  await app.register(retentionRoutes, { deps })
  await app.register(usageRoutes, { deps })
  await app.register(auditRoutes, { deps })
  await app.register(keyRoutes, { deps })
  await app.register(teamRoutes, { deps })
  await app.register(memberRoutes, { deps })
  await app.register(invitationRoutes, { deps })
  await app.register(apiKeyRoutes, { deps })
  await app.register(webhookRoutes, { deps })
  await app.register(secretRoutes, { deps })
  await app.register(profileRoutes, { deps, sessions })
  await app.register(adminRoutes, { deps, catalogue, nudge })
  return app
}

const withStandardHeaders = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply
    .header('x-request-id', request.id)
    .header('x-api-version', API_VERSION)
    .header('x-content-type-options', 'nosniff')

// `verbose` gives error messages the value that was sent. Bodies are not coerced; parameters of a URL are text and are read as
// the type that the schema names.
const ajvOptions: Options = { verbose: true, useDefaults: true, allErrors: false, strict: true, strictTypes: false }
const withFormats = (ajv: Ajv): Ajv => {
  addFormats.default(ajv)
  const { validate } = ajv.formats['date-time'] as { validate: (text: string) => boolean }
  return (
    ajv
      // The format's own pattern also takes `urn:uuid:...`, which Postgres does not.
      .addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)
      .addFormat('date-time', (text) => validate(text) && hasStorableYear(text))
  )
}
/** Years from 1 to 9999 in UTC: Postgres refuses others. Handlers refuse leap seconds, which a Date cannot hold. */
const hasStorableYear = (text: string): boolean => {
  const year = new Date(text).getUTCFullYear()
  return Number.isNaN(year) || (year >= 1 && year <= 9999)
}
/** Compiles at the first call, so that a start does not wait for the schemas of all routes. */
function compiledLate({ ajv, faultsOf }: Validation, schema: object) {
  let validate: ValidateFunction | null = null
  const late = (data: unknown): boolean => {
    validate ??= ajv.compile(schema)
    const valid = validate(data)
    late.errors = valid ? null : faultsOf(schema, data, validate.errors ?? [])
    return valid
  }
  late.errors = null as Fault[] | null
  return late
}

type Validation = ReturnType<typeof validation>
const validation = (options: Options) => ({
  ajv: withFormats(new Ajv(options)),
  faultsOf: createFaultFinder(withFormats(new Ajv({ ...options, strict: false })))
})
const bodies = validation({ ...ajvOptions, coerceTypes: false })
const parameters = validation({ ...ajvOptions, coerceTypes: true })
