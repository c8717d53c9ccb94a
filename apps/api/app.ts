// Builds the api; `server.ts` listens, tests inject. Who may call which route is one table (access-table.ts).
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
import type { ApiDeps } from './deps.js'
import { createEventStreams } from './event-stream.js'
import { createJobStates } from './job-states.js'
import { createJobWaits } from './job-waits.js'
import { createJobWatches } from './job-watch.js'
import { createNudge } from './nudge.js'
import { openapiOptions } from './openapi.js'
import { createPackageSlots } from './package-slots.js'
import access from './plugins/access.js'
import errors, { sendFault } from './plugins/errors.js'
import jsonBody from './plugins/json-body.js'
import originGuard from './plugins/origin-guard.js'
import { createSessions } from './plugins/session.js'
import submissions from './plugins/submissions.js'
import tracing from './plugins/tracing.js'
import writeOnce from './plugins/write-once.js'
import { adminRoutes } from './routes/admin.js'
import { apiKeyRoutes } from './routes/api-keys.js'
import { artifactRoutes } from './routes/artifacts.js'
import { auditRoutes } from './routes/audit.js'
import { authRoutes } from './routes/auth.js'
import { backendRoutes, createBackendCatalogue } from './routes/backends.js'
import { budgetRoutes } from './routes/budgets.js'
import { capsuleRunRoutes } from './routes/capsule-runs.js'
import { capsuleScheduleRoutes } from './routes/capsule-schedule.js'
import { capsuleStateRoutes } from './routes/capsule-states.js'
import { capsuleTransferRoutes } from './routes/capsule-transfer.js'
import { capsuleRoutes } from './routes/capsules.js'
import { estimateRoutes } from './routes/estimate.js'
import { invitationRoutes } from './routes/invitations.js'
import { jobDetailRoutes } from './routes/job-details.js'
import { jobRoutes } from './routes/jobs.js'
import { keyRoutes } from './routes/keys.js'
import { mailLinkRoutes } from './routes/mail-links.js'
import { managedRuntimeRoutes } from './routes/managed-runtimes.js'
import { memberRoutes } from './routes/members.js'
import { oidcRoutes } from './routes/oidc.js'
import { passwordRoutes } from './routes/passwords.js'
import { playgroundRoutes } from './routes/playground.js'
import { profileRoutes } from './routes/profile.js'
import { publicCapsuleRoutes } from './routes/public-capsules.js'
import { scriptRoutes } from './routes/scripts.js'
import { secretRoutes } from './routes/secrets.js'
import { serviceRoutes } from './routes/service.js'
import { teamRoutes } from './routes/teams.js'
import { usageRoutes } from './routes/usage.js'
import { webhookRoutes } from './routes/webhooks.js'
import { API_VERSION } from './version.js'

const BODY_MAX = 64 * 1024
/** Capsules that are made of jobs, or sealed: each may take 60 MiB twice. Most take milliseconds. */
const CAPSULES_AT_ONCE = 4
const CAPSULES_WAITING_MAX = 100

export async function buildApp(deps: ApiDeps, options: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: BODY_MAX,
    // Time to receive a request; waiting for an answer is bounded by each route.
    requestTimeout: 30_000,
    // What arrives while the service stops is answered like anything else: a poll that is refused ends a client's wait.
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    // The log of answers is apps/api/request-log.ts.
    logController: new LogController({ requestIdLogLabel: 'requestId', disableRequestLogging: true }),
    routerOptions: { maxParamLength: 200 },
    // Prototype keys are refused by name in plugins/json-body.ts.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    // What the router refuses passes no hook.
    frameworkErrors: (error, request, reply) => {
      sendFault(error, request, withStandardHeaders(request, reply))
    },
    ...options
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.setValidatorCompiler(({ schema, httpPart }) =>
    compiledLate(httpPart === 'body' ? bodies : parameters, schema as object)
  )

  let closing = false
  const nudge = createNudge({ ...deps, ...deps.config, log: app.log })
  const watches = createJobWatches(deps.listener)
  const states = createJobStates(deps.db)
  const waits = createJobWaits(states, watches)
  const streams = createEventStreams(deps.db, states, watches)
  app.addHook('preClose', async () => {
    closing = true
    watches.close()
  })
  app.addHook('onClose', () => nudge.close())
  // Hooks that every request passes have no promise of their own: six of them cost a third of a small answer.
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
  await app.register(errors)
  await app.register(submissions, { metrics: deps.metrics })
  await app.register(jsonBody)
  await app.register(originGuard, { publicOrigin: deps.config.publicUrl && new URL(deps.config.publicUrl).origin })
  const secure = deps.config.publicUrl?.startsWith('https:') ?? false
  const sessions = createSessions({ secure })
  await app.register(access, { db: deps.db, sessions, limiter: deps.limiter })
  await app.register(writeOnce, deps)
  await app.register(swagger, openapiOptions({ secure }))
  await app.register(swaggerUi, { routePrefix: '/docs' })

  const catalogue = createBackendCatalogue(deps.db)
  await app.register(serviceRoutes, { deps, isClosing: () => closing })
  await app.register(backendRoutes, { db: deps.db, catalogue })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  await app.register(authRoutes, { deps, sessions })
  await app.register(oidcRoutes, { deps, sessions, secure })
  await app.register(passwordRoutes, { deps })
  await app.register(jobRoutes, { deps, nudge, waits })
  await app.register(jobDetailRoutes, { deps, nudge, streams })
  await app.register(estimateRoutes, { deps })
  await app.register(managedRuntimeRoutes, { deps })
  await app.register(artifactRoutes, { deps })
  await app.register(playgroundRoutes, { deps })
  await app.register(scriptRoutes, { deps })
  await app.register(capsuleRunRoutes, { deps, nudge })
  await app.register(capsuleScheduleRoutes, { deps })
  await app.register(capsuleTransferRoutes, { deps })
  const capsuleSlots = createPackageSlots(CAPSULES_AT_ONCE, CAPSULES_WAITING_MAX)
  await app.register(capsuleRoutes, { deps, slots: capsuleSlots })
  await app.register(capsuleStateRoutes, { deps, slots: capsuleSlots })
  await app.register(publicCapsuleRoutes, { deps })
  await app.register(budgetRoutes, { deps })
  await app.register(usageRoutes, { deps })
  await app.register(auditRoutes, { deps })
  await app.register(keyRoutes, { deps })
  await app.register(teamRoutes, { deps })
  await app.register(memberRoutes, { deps })
  await app.register(invitationRoutes, { deps })
  await app.register(mailLinkRoutes)
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

// `verbose` gives error messages the value that was sent. Bodies are taken as they are; what stands in a URL is text and is
// read as the type that the schema names.
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
/** In UTC from 1 to 9999: others Postgres refuses. A leap second, which no Date knows, is left to the handlers. */
const hasStorableYear = (text: string): boolean => {
  const year = new Date(text).getUTCFullYear()
  return Number.isNaN(year) || (year >= 1 && year <= 9999)
}
/** Compiled when it is first asked: a start need not wait for the schemas of all routes. */
function compiledLate(ajv: Ajv, schema: object) {
  let validate: ValidateFunction | null = null
  const late = (data: unknown): boolean => {
    validate ??= ajv.compile(schema)
    const valid = validate(data)
    late.errors = validate.errors
    return valid
  }
  late.errors = null as ValidateFunction['errors']
  return late
}

const bodies = withFormats(new Ajv({ ...ajvOptions, coerceTypes: false }))
const parameters = withFormats(new Ajv({ ...ajvOptions, coerceTypes: true }))
