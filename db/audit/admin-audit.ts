import type { AdminAction } from '../../domain/operations/administration.js'
import type { Tx } from '../client.js'
import { newId } from '../ids.js'
import { adminActions } from '../tables/administration.js'

/** Who acts: a platform administrator, or whoever has the database. */
export interface AdminActor {
  id: string
  email: string
}

/** At the command line nobody has signed in. */
export const commandLine: AdminActor = { id: '00000000-0000-0000-0000-000000000000', email: 'command line' }

/** Writes an entry of the audit. Must run in the transaction of the change that it tells of. */
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
