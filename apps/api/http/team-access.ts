import type { FastifyRequest } from 'fastify'
import type { DbOrTx } from '../../../db/client.js'
import type { Membership } from '../../../db/teams/memberships.js'
import { suspended } from '../../../db/teams/teams.js'
import { readTeam } from './access.js'

/** @throws ServiceError `not_found` when the caller is not a member of the team, `team_suspended`. */
export async function assertNotSuspended(
  request: FastifyRequest,
  db: DbOrTx,
  teamId: string | undefined
): Promise<void> {
  assertActive(await readTeam(request, db, teamId))
}

/** @throws ServiceError `team_suspended`. */
export function assertActive(team: Pick<Membership, 'suspended' | 'suspended_reason'> | null): void {
  if (team?.suspended) throw suspended(team.suspended_reason)
}
