// The routes for runs of a capsule: /api/capsules/:id/run, /api/capsules/:id/runs.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { actorText } from '../../../db/audit/audit.js'
import { listRuns, loadCapsuleRun } from '../../../db/capsule-runs/capsule-run-records.js'
import { createRun, type RunOverrides } from '../../../db/capsule-runs/capsule-runs.js'
import { recordBudgetExceeded } from '../../../db/teams/webhook-deliveries.js'
import { assertState } from '../../../domain/capsules/capsule-actions.js'
import { readDefinition } from '../../../domain/capsules/capsule-definition.js'
import { capsuleRunModes, capsuleRunStatuses, capsuleRunTriggers } from '../../../domain/capsules/capsule-state.js'
import { ServiceError } from '../../../domain/errors.js'
import { executionModes } from '../../../domain/jobs/job-status.js'
import { SHOTS_MAX } from '../../../domain/jobs/params/shots.js'
import { jsonFields } from '../../../domain/json/json-text.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { pageView, TOTAL_MAX } from '../../../domain/json/page.js'
import type { ApiDeps } from '../deps.js'
import { actorOf, callerOf, ownerForWrite } from '../http/access.js'
import { assertKeyMayPay } from '../http/limits/key-limits.js'
import { json, pageEnd, uuid } from '../http/response.js'
import { idEnd } from '../http/validation/id-end.js'
import type { Nudge } from '../jobs/nudge.js'
import { submitErrors, takeJobsOfTeam } from '../jobs/submit-job.js'
import { requestedCapsule } from './capsule-access.js'
import { CapsuleRun, capsuleRunView } from './capsule-run-view.js'

const CapsuleId = Type.Object({ id: Type.String({ format: 'uuid' }) })
const RunId = Type.Object({ id: Type.String({ format: 'uuid' }), runId: Type.String({ format: 'uuid' }) })

const RunBody = Type.Object(
  {
    mode: oneOf(capsuleRunModes),
    params: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Merged over the parameters of every task' })
    ),
    backend: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    shots: Type.Optional(Type.Integer({ minimum: 1, maximum: SHOTS_MAX })),
    execution_mode: Type.Optional(oneOf(executionModes))
  },
  { additionalProperties: false }
)

export const capsuleRunRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; nudge: Nudge }> = async (
  app,
  { deps, nudge }
) => {
  const { db } = deps

  app.post(
    '/api/capsules/:id/run',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Run a capsule again: verify it, or use it as a template',
        description:
          'verify repeats the job that the capsule was made from, with the same program, parameters and backend, and compares ' +
          'the counts with its result. template runs the tasks of the capsule, with other parameters, backend or shots if ' +
          'given. Several tasks run one after another as one suite: job_id is that of the first, each later job waits for the ' +
          'one before it, and all are reserved together.',
        params: CapsuleId,
        body: RunBody,
        response: { 201: json('The jobs are recorded', Type.Object({ job_id: uuid, capsule_run_id: uuid })) },
        errors: submitErrors
      }
    },
    async (request, reply) => {
      const { key } = actorOf(request)
      const { mode, params, backend, shots, execution_mode: executionMode } = request.body
      const overrides: RunOverrides = {
        ...(params && {
          params: { value: params as Record<string, unknown>, text: jsonFields(request.jsonText!).get('params')! }
        }),
        ...(backend !== undefined && { backend }),
        ...(shots !== undefined && { shots }),
        ...(executionMode && { executionMode })
      }
      const { id, teamId: capsuleTeam } = await requestedCapsule(db, request)
      return app.writeOnce(request, reply, async ({ tx, afterCommit, afterRollback }) => {
        const teamId = await ownerForWrite(request, tx, capsuleTeam, 'capsule')
        const capsule = await requestedCapsule(tx, request)
        assertState('run', capsule.state)
        const { tasks } = readDefinition(capsule.definition)
        await takeJobsOfTeam(deps, request, { afterRollback }, teamId, tasks.length)
        const caller = callerOf(request)
        const run = await createRun(tx, {
          capsuleId: id,
          mode,
          trigger: 'request',
          overrides: Object.keys(overrides).length > 0 ? overrides : null,
          owner: { userId: caller.userId, keyId: caller.key?.id ?? null, keyDailyLimit: key?.dailyLimit ?? null },
          actor: actorText(caller),
          at: deps.now(),
          requestId: request.id,
          traceParent: request.span?.traceParent ?? null,
          mayUse: ({ slug, pricing }) => {
            request.submission ??= { mode: executionMode ?? tasks[0]!.execution_mode, backend: slug }
            assertKeyMayPay(key, pricing)
          },
          refused: (refusal, slug) => afterRollback(() => recordBudgetExceeded(db, { teamId, backend: slug, refusal }))
        })
        const jobId = run.jobIds[0]!
        afterCommit(() => {
          request.submission = { ...request.submission!, recorded: { jobId, teamId } }
          nudge(jobId, run.mode)
          for (const later of run.jobIds.slice(1)) deps.announce(later)
          deps.announceRun(run.runId)
        })
        return { status: 201, body: { job_id: jobId, capsule_run_id: run.runId } }
      })
    }
  )

  app.get(
    '/api/capsules/:id/runs',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Runs of a capsule, newest first',
        params: CapsuleId,
        querystring: Type.Object({
          status: Type.Optional(oneOf(capsuleRunStatuses)),
          trigger: Type.Optional(oneOf(capsuleRunTriggers)),
          id_end: idEnd,
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
        }),
        response: { 200: json('Runs, newest first', Type.Object({ runs: Type.Array(CapsuleRun), ...pageEnd })) }
      }
    },
    async (request) => {
      const { status, trigger, id_end, limit, offset } = request.query
      const { id: capsuleId } = await requestedCapsule(db, request)
      const { rows, total } = await listRuns(db, {
        capsuleId,
        limit,
        offset,
        ...(status && { status }),
        ...(trigger && { trigger }),
        ...(id_end && { idEnd: id_end })
      })
      return { runs: rows.map(capsuleRunView), ...pageView(total, { limit, offset }) }
    }
  )

  app.get(
    '/api/capsules/:id/runs/:runId',
    {
      schema: {
        tags: ['capsules'],
        summary: 'A run: its jobs, and what its verification says',
        params: RunId,
        response: { 200: json('The run', CapsuleRun) }
      }
    },
    async (request) => {
      const { id } = await requestedCapsule(db, request)
      const run = await loadCapsuleRun(db, id, request.params.runId)
      if (!run) throw new ServiceError('not_found', 'no such run of this capsule')
      return capsuleRunView(run)
    }
  )
}
