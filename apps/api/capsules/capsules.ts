// Capsules: creating, reading, changing, deleting and cloning them: /api/capsules. Sealing,
// publishing and archiving are in capsule-states.ts, the public catalogue in public-capsules.ts.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type SealRequest, untestableWarnings } from '../../../capsule-format/seal-content.js'
import { actorText } from '../../../db/audit/audit.js'
import { changeCapsule, deleteCapsule } from '../../../db/capsules/capsule-changes.js'
import { createCapsuleOfJob } from '../../../db/capsules/capsule-of-job.js'
import {
  type CapsuleRow,
  listCapsules,
  loadCapsule,
  loadParts,
  loadReadableCapsule,
  lockCapsule
} from '../../../db/capsules/capsules.js'
import type { DbOrTx } from '../../../db/client.js'
import { loadJob } from '../../../db/jobs/jobs.js'
import { MAIN_TASK } from '../../../domain/capsules/capsule-definition.js'
import {
  CapsuleDescription,
  CapsuleName,
  CapsuleTags,
  ChangeCapsuleBody,
  CreateCapsuleBody,
  readMaxBudget
} from '../../../domain/capsules/capsule-fields.js'
import { capsuleStates } from '../../../domain/capsules/capsule-state.js'
import { ServiceError } from '../../../domain/errors.js'
import { assertCompleted } from '../../../domain/jobs/job-actions.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { pageView, TOTAL_MAX } from '../../../domain/json/page.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, ownerForWrite, readTeam, teamForWrite, userOf } from '../http/access.js'
import { SEAL_BYTES } from '../http/memory.js'
import { done, json, pageEnd, success, text, uuid } from '../http/response.js'
import { idEnd } from '../http/validation/id-end.js'
import type { Verdict } from '../http/verdict.js'
import { lockRequestedCapsule, noSuchCapsule, requestedCapsule } from './capsule-access.js'
import { actionsOf, canSign } from './capsule-actions.js'
import { createDraft, readFields } from './capsule-draft.js'
import { Capsule, CapsuleSummary, capsuleSummaryView, capsuleView } from './capsule-view.js'
import { cloneCapsule } from './clone-capsule.js'
import { SealBody, sealCapsule, sealErrors } from './seal-capsule.js'

export const CapsuleId = Type.Object({ id: Type.String({ format: 'uuid' }) })
const Uuid = Type.String({ format: 'uuid' })

const FromJobBody = Type.Object(
  {
    job_id: Uuid,
    name: Type.Optional(CapsuleName),
    description: Type.Optional(CapsuleDescription),
    tags: Type.Optional(CapsuleTags),
    max_budget_usd: Type.Optional(Type.Number({ minimum: 0, maximum: 500 })),
    retention_years: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    regulatory_framework: Type.Optional(Type.String({ maxLength: 1_000 })),
    seal: Type.Optional(
      Type.Union([Type.Boolean(), SealBody], { description: 'true: sealed at once, with exit code 0' })
    )
  },
  { additionalProperties: false }
)

/** The body is optional. */
const CloneBody = Type.Union([
  Type.Object({ name: Type.Optional(CapsuleName), team_id: Type.Optional(Uuid) }, { additionalProperties: false }),
  Type.Null()
])

export const capsuleRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.post(
    '/api/capsules/create',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Create a draft of a capsule',
        description:
          'Its tasks are stored with the present text of their programs. Without a workflow there is nothing to run yet.',
        body: CreateCapsuleBody,
        response: { 201: json('The draft is created', Type.Object({ capsule_id: uuid })) },
        errors: ['not_found', 'backend_unknown', 'conflict', 'storage_limit_exceeded']
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, request.body.team_id ?? null)
        return {
          status: 201,
          body: { capsule_id: await createDraft(request, tx, teamId, request.body, request.jsonText!) }
        }
      })
  )

  app.get(
    '/api/capsules',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Capsules of your teams, newest first',
        querystring: Type.Object({
          team_id: Type.Optional(Uuid),
          state: Type.Optional(oneOf(capsuleStates)),
          q: Type.Optional(
            Type.String({ minLength: 1, maxLength: 200, description: 'In the name or the description' })
          ),
          tag: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
          mine: Type.Boolean({ default: false, description: 'Only those that you own' }),
          id_end: idEnd,
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
        }),
        response: { 200: json('The capsules', Type.Object({ capsules: Type.Array(CapsuleSummary), ...pageEnd })) }
      }
    },
    async (request) => {
      const { team_id, state, q, tag, mine, id_end, limit, offset } = request.query
      if (team_id) await readTeam(request, db, team_id)
      const { rows, total } = await listCapsules(db, callerOf(request), {
        limit,
        offset,
        mine,
        ...(team_id && { teamId: team_id }),
        ...(state && { state }),
        ...(q && { text: q }),
        ...(tag && { tag }),
        ...(id_end && { idEnd: id_end })
      })
      return { capsules: rows.map((row) => capsuleSummaryView(row, deps.now())), ...pageView(total, { limit, offset }) }
    }
  )

  app.get(
    '/api/capsules/:id',
    {
      schema: {
        tags: ['capsules'],
        summary: 'The record of a capsule',
        params: CapsuleId,
        response: { 200: json('The capsule', Capsule) }
      }
    },
    async (request) => {
      const capsule = await requestedCapsule(db, request)
      return recordFor(request, db, capsule, await canSign(deps))
    }
  )

  app.patch(
    '/api/capsules/:id',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Change a draft of yours',
        description: 'A new workflow stores the present text of its programs. null clears a field.',
        params: CapsuleId,
        body: ChangeCapsuleBody,
        response: { 200: json('The changed capsule', Capsule) },
        errors: ['backend_unknown', 'storage_limit_exceeded']
      }
    },
    async (request, reply) => {
      const signing = await canSign(deps)
      return app.writeOnce(request, reply, async ({ tx }) => {
        const row = await lockRequestedCapsule(request, tx, 'update')
        const change = await readFields(request, tx, row.teamId, request.body, request.jsonText!)
        const changed = await changeCapsule(tx, row, change, actorText(callerOf(request)))
        return { body: await recordFor(request, tx, changed, signing) }
      })
    }
  )

  app.delete(
    '/api/capsules/:id',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Delete a capsule of yours that is not sealed',
        description: 'Its jobs and the audit trail stay. 409 while a run of it is under way.',
        params: CapsuleId,
        response: { 200: done },
        errors: ['conflict']
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        await deleteCapsule(tx, await lockRequestedCapsule(request, tx, 'delete'), actorText(callerOf(request)))
        return { body: success }
      })
  )

  app.post(
    '/api/capsules/from-job',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Create a capsule from a completed job',
        description:
          'The capsule holds the program, parameters, backend, result, times and costs of the job. It cannot be changed.',
        body: FromJobBody,
        response: {
          201: json(
            'The capsule is created; warnings say why no verification of it can have a verdict',
            Type.Object({ capsule_id: uuid, warnings: Type.Array(text) })
          )
        },
        errors: ['not_found', ...sealErrors]
      }
    },
    async (request, reply) => {
      const { job_id, name, description, tags, seal, ...more } = request.body
      // Outside the transaction, because the key may have to be created.
      const signer = seal ? await deps.signer() : null
      return app.large.within(request, SEAL_BYTES, () =>
        app.writeOnce(request, reply, async ({ tx }) => {
          const job = await loadJob(tx, callerOf(request), job_id)
          if (!job) throw new ServiceError('not_found', 'job_id: no such job')
          const teamId = await ownerForWrite(request, tx, job.teamId, 'job')
          assertCompleted(job.status)
          const { id, files } = await createCapsuleOfJob(
            tx,
            {
              jobId: job.id,
              teamId,
              ownerId: userOf(request).id,
              name: name ?? null,
              ...(description !== undefined && { description }),
              ...(tags && { tags }),
              maxBudget: readMaxBudget(more.max_budget_usd ?? null),
              retentionYears: more.retention_years ?? null,
              regulatoryFramework: more.regulatory_framework ?? null
            },
            { actor: actorText(callerOf(request)) }
          )
          if (signer) {
            const capsule = (await lockCapsule(tx, id))!
            const by = {
              caller: callerOf(request),
              signer,
              at: deps.now(),
              seal: (content: SealRequest) => deps.sealing.sealInThread(capsule.teamId, content)
            }
            await sealCapsule(tx, by, capsule, seal === true || !seal ? { exit_code: 0 } : seal, async () => capsule)
          }
          return { status: 201, body: { capsule_id: id, warnings: untestableWarnings(MAIN_TASK, files) } }
        })
      )
    }
  )

  app.post(
    '/api/capsules/:id/clone',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Create a draft of your own with the same definition',
        description:
          'Of a capsule of your teams, or a published one. Without team_id it belongs to the same team, or to your personal ' +
          'team where the capsule is of a team of others.',
        params: CapsuleId,
        body: CloneBody,
        response: { 201: json('A draft of your own', Type.Object({ capsule_id: uuid })) },
        errors: ['conflict', 'storage_limit_exceeded']
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        const caller = callerOf(request)
        const source = await loadReadableCapsule(tx, caller, request.params.id)
        if (!source) throw noSuchCapsule()
        const isOurs = (await loadCapsule(tx, caller, source.id)) !== null
        const teamId = await teamForWrite(request, tx, request.body?.team_id ?? (isOurs ? source.teamId : null))
        const id = await cloneCapsule(tx, caller, source, teamId, request.body?.name ?? null)
        return { status: 201, body: { capsule_id: id } }
      })
  )
}

/** The record of a capsule, with what the caller can do now. */
export async function recordFor(request: FastifyRequest, db: DbOrTx, capsule: CapsuleRow, signing: Verdict) {
  const parts = await loadParts(db, capsule)
  const scheduled = parts.schedule !== null
  return capsuleView(capsule, parts, await actionsOf(db, request, capsule, { scheduled, signing }))
}
