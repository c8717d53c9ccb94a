// Answers of platform administration.
import { type TSchema, Type } from 'typebox'
import {
  anything,
  count,
  created,
  listOf,
  nullable,
  ok,
  oneOf,
  pageOf,
  type ResponseSet,
  ref,
  text,
  time,
  usd,
  uuid
} from '../http/response-schema.js'
import { jobFields } from '../jobs/responses.js'

/** What could not be asked says why in place of its figures. */
const probed = (figures: Record<string, TSchema>) =>
  Type.Object({
    state: oneOf(['ok', 'failing']),
    message: Type.Optional(text),
    ...Object.fromEntries(Object.entries(figures).map(([name, schema]) => [name, Type.Optional(schema)]))
  })

const part = probed({ latency_ms: Type.Number({ minimum: 0 }) })

export const administrationResponses: ResponseSet = {
  schemas: {
    AnyTeam: Type.Object({
      id: uuid,
      name: text,
      owner: Type.Unsafe({
        ...nullable(Type.Object({ id: uuid, email: text })),
        description: 'null once the team is deleted'
      }),
      members: count,
      suspended: Type.Boolean(),
      suspended_at: nullable(time),
      suspended_reason: nullable(text),
      deleted_at: nullable(time),
      created_at: time
    }),
    AnyUser: Type.Object({
      id: uuid,
      email: text,
      username: text,
      display_name: nullable(text),
      is_platform_admin: Type.Boolean(),
      email_verified_at: nullable(time),
      teams: count,
      last_seen_at: nullable(time),
      created_at: time
    }),
    AnyJob: Type.Object({ ...jobFields, team_name: text, user_email: nullable(text) }),
    AccessCode: Type.Object({ code: text, remaining_uses: count, expires_at: nullable(time), created_at: time }),
    AuditEntry: Type.Object({
      id: uuid,
      at: time,
      actor: Type.Object({
        id: Type.Unsafe({ ...nullable(uuid), description: 'null at the command line' }),
        email: text
      }),
      action: oneOf([
        'access_code.create',
        'backend.change',
        'capsule.takedown',
        'job.cancel',
        'job.settle',
        'signing_key.rotate',
        'team.budget',
        'team.suspend',
        'team.unsuspend',
        'user.grant'
      ]),
      target: text,
      details: anything
    }),
    SweepPass: Type.Object({
      ran_at: time,
      succeeded_at: nullable(time),
      late: Type.Boolean({ description: 'The last success is more than ten periods ago' }),
      handled: Type.Integer({ minimum: 0, description: 'How much was dealt with since the note before' }),
      error: nullable(text),
      findings: Type.Array(Type.Object({ message: text, at: time }))
    }),
    Money: Type.Object({
      held: Type.Array(
        Type.Object({
          job_id: uuid,
          team_id: uuid,
          team_name: text,
          backend: text,
          provider: text,
          provider_job_id: nullable(text),
          status: oneOf(['failed', 'cancelled']),
          status_reason: nullable(text),
          held_usd: usd,
          since: time,
          asks_provider_at: Type.Unsafe({ ...nullable(time), description: 'null: its provider is no longer asked' })
        })
      ),
      held_jobs: count,
      held_usd: usd,
      over_reservation: Type.Array(
        Type.Object({
          job_id: uuid,
          team_id: uuid,
          team_name: text,
          backend: text,
          reserved_usd: usd,
          settled_usd: usd,
          settled_at: time
        })
      ),
      proofs: Type.Object({}, { additionalProperties: ref('SweepPass') })
    }),
    System: Type.Object({
      at: time,
      version: text,
      parts: Type.Object({ database: part, redis: part, temporal: part, executor: part }),
      queues: Type.Object({
        direct: probed({ waiting: count, active: count, delayed: count }),
        temporal: probed({ workflow_tasks: count, activity_tasks: count })
      }),
      workers: Type.Object({
        direct: probed({ count }),
        temporal: probed({
          pollers: Type.Array(Type.Object({ identity: text, last_seen_at: nullable(time) }))
        })
      }),
      jobs: probed({ pending: count, running: count, cancelling: count }),
      outbox: probed({
        rows: count,
        held: count,
        due: count,
        unreachable: count,
        oldest_seconds: nullable(count)
      }),
      providers: Type.Object(
        { state: oneOf(['ok', 'failing']), message: Type.Optional(text) },
        {
          additionalProperties: Type.Object({
            worker_seen_at: nullable(time),
            asked_at: nullable(time),
            backends: count,
            online: count
          })
        }
      ),
      sweeps: Type.Object(
        { state: oneOf(['ok', 'failing']), message: Type.Optional(text) },
        { additionalProperties: ref('SweepPass') }
      ),
      executor: probed({ sandbox: anything, slots: anything, engines: Type.Array(anything) })
    })
  },
  answers: {
    'GET /api/admin/teams': { success: ok('The teams', pageOf('teams', 'AnyTeam')) },
    'POST /api/admin/teams/:id/suspend': { success: ok('The team', ref('AnyTeam')) },
    'POST /api/admin/teams/:id/unsuspend': { success: ok('The team', ref('AnyTeam')) },
    'GET /api/admin/users': { success: ok('The users', pageOf('users', 'AnyUser')) },
    'GET /api/admin/jobs': { success: ok('The jobs', pageOf('jobs', 'AnyJob')) },
    'POST /api/admin/jobs/:id/cancel': {
      success: { 202: { description: 'The record; what is running is being stopped', body: ref('Job') } },
      errors: ['conflict']
    },
    'POST /api/admin/jobs/:id/settle': {
      success: ok('The record, with the cost', ref('Job')),
      errors: ['conflict']
    },
    'GET /api/admin/money': { success: ok('What is held and what was found', ref('Money')) },
    'GET /api/admin/access-codes': { success: ok('The codes', pageOf('access_codes', 'AccessCode')) },
    'POST /api/admin/access-codes': { success: created('The code', ref('AccessCode')), errors: ['conflict'] },
    'PATCH /api/admin/backends/:slug': { success: ok('The backend', ref('Backend')) },
    'GET /api/admin/audit': {
      success: ok(
        'The entries',
        Type.Object({
          ...listOf('entries', 'AuditEntry').properties,
          limit: Type.Integer({ minimum: 1 }),
          next_cursor: nullable(uuid)
        })
      )
    },
    'GET /api/admin/system': { success: ok('How the platform fares', ref('System')) }
  }
}
