// The script that a request is about, and whether its caller is allowed to change it.

import type { FastifyRequest } from 'fastify'
import type { DbOrTx, Tx } from '../../../db/client.js'
import { lockScript } from '../../../db/scripts/script-changes.js'
import { loadScript, loadScriptHead, ownsScript, type ScriptHead, type ScriptRow } from '../../../db/scripts/scripts.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { callerOf, ownerForWrite } from '../http/access.js'
import { assertNotSuspended } from '../http/team-access.js'

/** The script that the path's `id` names. @throws ServiceError `not_found` unless the caller can see it. */
export async function requestedScript(db: DbOrTx, request: FastifyRequest): Promise<ScriptRow> {
  const { id } = request.params as { id: string }
  const script = await loadScript(db, callerOf(request), id)
  if (!script) throw noSuchScript()
  return script
}

/** The same without its source, for changes. @throws ServiceError as `requestedScript` does. */
export async function requestedHead(db: DbOrTx, request: FastifyRequest): Promise<ScriptHead> {
  const { id } = request.params as { id: string }
  const script = await loadScriptHead(db, callerOf(request), id)
  if (!script) throw noSuchScript()
  return script
}

const noSuchScript = () => new ServiceError('not_found', 'no such script')

/**
 * Refuses early, before anything is read; the same conditions are checked again under lock.
 * @throws ServiceError as `lockOwnScript` does.
 */
export async function assertMayChange(request: FastifyRequest, db: DbOrTx, script: ScriptHead): Promise<void> {
  await assertMayPublish(request, db, script)
  assertUnpublished(script)
}

/** To publish a published script again has no effect. @throws ServiceError as `lockOwnScript` does. */
export async function assertMayPublish(
  request: FastifyRequest,
  db: DbOrTx,
  script: Pick<ScriptHead, 'teamId' | 'userId'>
): Promise<void> {
  await assertOwner(request, db, script)
  await assertNotSuspended(request, db, script.teamId ?? undefined)
}

/**
 * The row of a script that the caller may change, locked with its team.
 * @throws ServiceError `permission_denied`, `team_suspended`, `not_found`; `validation_error` for a published one.
 */
export async function lockOwnScript(
  request: FastifyRequest,
  tx: Tx,
  { id, teamId, userId }: ScriptHead,
  which: 'unpublished' | 'also published' = 'unpublished'
): Promise<ScriptHead> {
  await assertOwner(request, tx, { teamId, userId })
  await ownerForWrite(request, tx, teamId, 'script')
  const row = await lockScript(tx, id)
  if (!row) throw noSuchScript()
  if (which === 'unpublished') assertUnpublished(row)
  return row
}

async function assertOwner(
  request: FastifyRequest,
  db: DbOrTx,
  script: Pick<ScriptHead, 'teamId' | 'userId'>
): Promise<void> {
  if (!(await ownsScript(db, callerOf(request), script)))
    throw new ServiceError('permission_denied', 'Only the owner of a script can change, publish or delete it')
}

/** @throws ServiceError `validation_error`. */
export function assertUnpublished({ isPublic }: Pick<ScriptHead, 'isPublic'>): void {
  if (isPublic) throw validationError('This script is published: it can be neither changed nor deleted; save a new one')
}
