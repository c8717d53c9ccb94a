// The capsule that a request is about, and whether its caller is allowed to act on it.
import type { FastifyRequest } from 'fastify'
import { type CapsuleRow, loadCapsule, lockCapsule, standingOf } from '../../../db/capsules/capsules.js'
import type { DbOrTx, Tx } from '../../../db/client.js'
import { assertMay, assertState, type CapsuleAction } from '../../../domain/capsules/capsule-actions.js'
import { ServiceError } from '../../../domain/errors.js'
import { callerOf, ownerForWrite } from '../http/access.js'
import { assertNotSuspended } from '../http/team-access.js'

export const noSuchCapsule = () => new ServiceError('not_found', 'no such capsule')

/** The capsule that the path's `id` names. @throws ServiceError `not_found` unless it belongs to a team of the caller. */
export async function requestedCapsule(db: DbOrTx, request: FastifyRequest): Promise<CapsuleRow> {
  const { id } = request.params as { id: string }
  const capsule = await loadCapsule(db, callerOf(request), id)
  if (!capsule) throw noSuchCapsule()
  return capsule
}

/**
 * The same, locked with its team until the transaction ends, for a caller who is allowed to do this in its present state.
 * @throws ServiceError `not_found`, `team_suspended`, `permission_denied` (who, and in which state).
 */
export async function lockRequestedCapsule(
  request: FastifyRequest,
  tx: Tx,
  action: CapsuleAction
): Promise<CapsuleRow> {
  const { id, teamId } = await requestedCapsule(tx, request)
  await ownerForWrite(request, tx, teamId, 'capsule')
  const capsule = await lockCapsule(tx, id)
  if (!capsule) throw noSuchCapsule()
  assertMay(action, await standingOf(tx, callerOf(request), capsule))
  assertState(action, capsule.state)
  return capsule
}

/**
 * Refuses early, before any preparation; the same conditions are checked again under lock.
 * @throws ServiceError as `lockRequestedCapsule` does.
 */
export async function assertMayNow(
  request: FastifyRequest,
  db: DbOrTx,
  capsule: CapsuleRow,
  action: CapsuleAction
): Promise<void> {
  await assertNotSuspended(request, db, capsule.teamId)
  assertMay(action, await standingOf(db, callerOf(request), capsule))
  assertState(action, capsule.state)
}
