// The audit trail of a team: who did what to its capsules, and the proof that the trail was not changed since.
import type { ServerResponse } from 'node:http'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { actorNames } from '../../../../db/audit/actor-names.js'
import { type AuditFilter, listAudit } from '../../../../db/audit/audit.js'
import { loadCapsule } from '../../../../db/capsules/capsules.js'
import type { AuditReport, OnProgress } from '../../../../db/proofs/audit-verify.js'
import { auditActions, auditEntryView, NO_HASH } from '../../../../domain/audit/audit-action.js'
import { ServiceError } from '../../../../domain/errors.js'
import { oneOf } from '../../../../domain/json/one-of.js'
import { pageView } from '../../../../domain/json/page.js'
import { proveAudit } from '../../../../services/audit/audit-proof.js'
import type { ApiDeps } from '../../deps.js'
import { callerOf, readTeam } from '../../http/access.js'
import { beginStream } from '../../http/begin-stream.js'
import { json, jsonOr, pageEnd, sent, text } from '../../http/response.js'
import { timeOf } from '../../http/validation/time-of.js'
import { createAuditProofs } from './audit-proofs.js'
import { reportView, TrailEntry, TrailReport } from './audit-view.js'
import { outsideCheckpoints } from './outside-checkpoints.js'

const EntryPage = Type.Object({
  entries: Type.Array(TrailEntry),
  actors: Type.Record(Type.String(), text, {
    description:
      'Names of the actors of these entries: of people, and of API keys. Without those that are not known any more, and without platform administrators'
  }),
  ...pageEnd,
  limit: Type.Integer(),
  offset: Type.Integer()
})

const STREAM = 'text/event-stream'
const reportResponse = jsonOr(
  'Whether the trail holds. As a stream: `progress` with `{ "entries", "of" }`, at most four a second, and at the end `report`. A stream that ends without it has failed',
  TrailReport,
  STREAM
)
/** Between two events about how far a proof is. */
const PROGRESS_MS = 250

const Id = Type.String({ format: 'uuid' })
const pageFields = {
  action: Type.Optional(oneOf(auditActions)),
  from: Type.Optional(Type.String({ format: 'date-time' })),
  to: Type.Optional(Type.String({ format: 'date-time' })),
  seq_max: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only entries up to this `seq`, so that older pages stay the same while entries are added'
    })
  ),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })
}
const PageFields = Type.Object(pageFields)
const tags = ['audit']

export const auditRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps
  const proofs = createAuditProofs(async (teamId, onProgress) => {
    const outside = await outsideCheckpoints(db, deps.config.auditCheckpointsFile, teamId)
    const report = await proveAudit(db, teamId, { keyRing: deps.keyRing, exported: outside.points, onProgress })
    return reportView(report, outside)
  })

  app.get(
    '/api/capsules/:id/audit',
    {
      schema: {
        tags,
        summary: 'What was done to a capsule, newest first',
        params: Type.Object({ id: Id }),
        querystring: Type.Object(pageFields, { additionalProperties: false }),
        response: { 200: json('Entries about the capsule', EntryPage) }
      }
    },
    async (request) => {
      const capsule = await loadCapsule(db, callerOf(request), request.params.id)
      if (!capsule) throw new ServiceError('not_found', 'no such capsule')
      return page({ teamId: capsule.teamId, capsuleId: capsule.id, ...filterOf(request.query) })
    }
  )

  app.get(
    '/api/team/audit',
    {
      schema: {
        tags,
        summary: 'What was done to the capsules of a team, deleted ones included, newest first',
        querystring: Type.Object(
          {
            team_id: Type.Optional(Id),
            capsule_id: Type.Optional(Type.String({ format: 'uuid', description: 'only what was done to this one' })),
            ...pageFields
          },
          { additionalProperties: false }
        ),
        response: { 200: json('Entries of the team', EntryPage) }
      }
    },
    async (request) => {
      const { team_id, capsule_id: capsuleId, ...fields } = request.query
      const team = await readTeam(request, db, team_id)
      if (!team) return { entries: [], actors: {}, ...pageView(0, fields) }
      return page({ teamId: team.id, ...(capsuleId !== undefined && { capsuleId }), ...filterOf(fields) })
    }
  )

  app.get(
    '/api/team/audit/verify',
    {
      schema: {
        tags,
        summary: "Prove a team's audit trail and the content of its sealed capsules",
        description:
          'Recomputes every hash from the first entry on, checks every signed checkpoint in the database, and every sealed capsule against its seal. first_broken names the first entry that is not as it was written. The checkpoints kept outside the database are looked at as well, where the api can read them; checkpoints_outside says so. ok is false, and first_broken null, when it should and cannot. With `Accept: text/event-stream` it says meanwhile how far it is.',
        querystring: Type.Object({ team_id: Type.Optional(Id) }, { additionalProperties: false }),
        response: { 200: reportResponse },
        errors: ['content_store_unavailable']
      }
    },
    async (request, reply) => {
      const team = await readTeam(request, db, request.query.team_id)
      if (!team) return reportView(nothing, null)
      if (!request.headers.accept?.includes(STREAM)) return proofs.of(team.id)
      const progress = eventProgress(reply.raw)
      // A refusal comes before the stream begins.
      const proof = proofs.of(team.id, progress)
      beginStream(reply)
      await proof
        .then((report) => void reply.raw.write(eventText('report', report)))
        .catch((err) => request.log.error({ err, team: team.id }, 'the proof of an audit trail ended early'))
        .finally(() => reply.raw.end())
      return sent(reply)
    }
  )

  async function page(filter: AuditFilter & { teamId: string }) {
    const { rows, total } = await listAudit(db, filter)
    const actors = await actorNames(
      db,
      filter.teamId,
      rows.map(({ actor }) => actor)
    )
    return { entries: rows.map(auditEntryView), actors, ...pageView(total, filter) }
  }
}

const eventText = (name: 'progress' | 'report', data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

function eventProgress(response: ServerResponse): OnProgress {
  let saidAt = Number.NEGATIVE_INFINITY
  return (entries, of) => {
    const now = performance.now()
    if (now - saidAt < PROGRESS_MS || response.destroyed) return
    saidAt = now
    response.write(eventText('progress', { entries, of }))
  }
}

type PageFields = Static<typeof PageFields>

const filterOf = ({ action, from, to, seq_max, limit, offset }: PageFields): AuditFilter => ({
  ...(action !== undefined && { action }),
  ...(from !== undefined && { from: timeOf('from', from) }),
  ...(to !== undefined && { to: timeOf('to', to) }),
  ...(seq_max !== undefined && { seqMax: seq_max }),
  limit,
  offset
})

const nothing: AuditReport = {
  ok: true,
  entries: 0,
  head: { seq: 0, hash: NO_HASH },
  firstBroken: null,
  checkpoints: 0,
  signedUpTo: 0,
  seals: 0
}
