// The audit trail of a team: who did what to its capsules, and the proof that the trail was not changed since.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { actorNames } from '../../../db/audit/actor-names.js'
import { type AuditFilter, listAudit } from '../../../db/audit/audit.js'
import { loadCapsule } from '../../../db/capsules/capsules.js'
import type { AuditReport } from '../../../db/proofs/audit-verify.js'
import { auditActions, auditEntryView, NO_HASH } from '../../../domain/audit/audit-action.js'
import { ServiceError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { pageView } from '../../../domain/json/page.js'
import { proveAudit } from '../../../services/audit/audit-proof.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, readTeam } from '../http/access.js'
import { json, pageEnd, text } from '../http/response.js'
import { timeOf } from '../http/validation/time-of.js'
import { createAuditProofs } from './audit-proofs.js'
import { reportView, TrailEntry, TrailReport } from './audit-view.js'
import { outsideCheckpoints } from './checkpoint-file.js'

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
  const proofs = createAuditProofs(async (teamId) => {
    const outside = await outsideCheckpoints(db, deps.config.auditCheckpointsFile, teamId)
    const report = await proveAudit(db, teamId, { keyRing: deps.keyRing, exported: outside.points })
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
          'Recomputes every hash from the first entry on, checks every signed checkpoint in the database, and every sealed capsule against its seal. first_broken names the first entry that is not as it was written. The checkpoints kept outside the database are looked at as well, where the api can read their file; checkpoints_outside says so. ok is false, and first_broken null, when it should and cannot.',
        querystring: Type.Object({ team_id: Type.Optional(Id) }, { additionalProperties: false }),
        response: { 200: json('Whether the trail holds', TrailReport) }
      }
    },
    async (request) => {
      const team = await readTeam(request, db, request.query.team_id)
      return team ? proofs.of(team.id) : reportView(nothing, null)
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
