import type { AdminAction } from '../../domain/operations/administration.js'
import type { Tx } from '../client.js'
import { newId } from '../ids.js'
import { adminActions } from '../tables/administration.js'

/** The acting platform administrator, or the command line, which requires access to the database. */
export interface AdminActor {
  id: string
  email: string
}

/** There is no signed-in user at the command line. */
export const commandLine: AdminActor = { id: '00000000-0000-0000-0000-000000000000', email: 'command line' }

/** Writes an audit entry. Must run in the transaction of the change that it records. */
export async function recordAdminAction(
  tx: Tx,
  actor: AdminActor,
  action: AdminAction,
  target: string,
  details: Record<string, unknown>
): Promise<void> {
  await tx
    .insert(adminActions)
    .values({ id: newId(), actorId: actor.id, actorEmail: actor.email, action, target, details })
}
