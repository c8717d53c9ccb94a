// Applies the body of a create or change request to a capsule.
import type { FastifyRequest } from 'fastify'
import { actorText } from '../../../db/audit/audit.js'
import { type CapsuleFields, createCapsule } from '../../../db/capsules/capsule-changes.js'
import type { DbOrTx, Tx } from '../../../db/client.js'
import { parameterTexts } from '../../../domain/capsules/capsule-authoring.js'
import { emptyDefinition } from '../../../domain/capsules/capsule-definition.js'
import {
  type ChangeCapsuleBody,
  type CreateCapsuleBody,
  readMaxBudget
} from '../../../domain/capsules/capsule-fields.js'
import { callerOf, userOf } from '../http/access.js'
import { assertBackend, definitionOf } from './capsule-tasks.js'

/**
 * Records the draft that a schema-valid body describes, for a team that the transaction has locked.
 * @param text of the body, as JSON. @returns its id. @throws ServiceError as `readFields` and `createCapsule` do.
 */
export async function createDraft(
  request: FastifyRequest,
  tx: Tx,
  teamId: string,
  body: CreateCapsuleBody,
  text: string
): Promise<string> {
  const { definition = emptyDefinition, backends, ...fields } = await readFields(request, tx, teamId, body, text)
  return createCapsule(
    tx,
    {
      teamId,
      ownerId: userOf(request).id,
      state: 'draft',
      name: body.name,
      description: fields.description ?? '',
      tags: fields.tags ?? [],
      definition,
      ...(backends && { backends }),
      maxBudget: fields.maxBudget ?? null,
      retentionYears: fields.retentionYears ?? null,
      regulatoryFramework: fields.regulatoryFramework ?? null
    },
    { actor: actorText(callerOf(request)) }
  )
}

/**
 * The fields of a schema-valid body; fields that the body lacks stay absent.
 * @param text of the body, as JSON.
 * @throws ServiceError `validation_error`, `not_found` (script), `backend_unknown`, naming the place.
 */
export async function readFields(
  request: FastifyRequest,
  db: DbOrTx,
  teamId: string,
  body: ChangeCapsuleBody,
  text: string
): Promise<Partial<CapsuleFields>> {
  const { name, description, tags, workflow, backends } = body
  const { max_budget_usd, retention_years, regulatory_framework } = body
  for (const [place, slug] of (backends ?? []).entries()) await assertBackend(db, slug, `backends[${place}]`)
  const definition = workflow
    ? await definitionOf(db, callerOf(request), teamId, workflow.tasks, parameterTexts(text))
    : emptyDefinition
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(tags && { tags }),
    ...(workflow !== undefined && { definition }),
    ...(backends && { backends }),
    ...(max_budget_usd !== undefined && { maxBudget: readMaxBudget(max_budget_usd) }),
    ...(retention_years !== undefined && { retentionYears: retention_years }),
    ...(regulatory_framework !== undefined && { regulatoryFramework: regulatory_framework })
  }
}
