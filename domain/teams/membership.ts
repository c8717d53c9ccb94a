// What can be done with a member of a team, besides what the role of the caller allows.
import { ServiceError } from '../errors.js'
import type { Role } from './role.js'

/** @throws ServiceError `permission_denied` for the owner, whose role changes only by a transfer. */
export function assertRoleChanges(role: Role): void {
  if (role === 'owner')
    throw new ServiceError('permission_denied', "The owner's role cannot be changed; transfer the ownership instead")
}

/** @throws ServiceError `permission_denied` for the owner, and for removing oneself. */
export function assertRemovable(role: Role, isSelf: boolean): void {
  if (isSelf) throw new ServiceError('permission_denied', 'You cannot remove yourself; leave the team instead')
  if (role === 'owner') throw new ServiceError('permission_denied', 'The owner cannot be removed')
}

/** @throws ServiceError `permission_denied` for the owner. */
export function assertMayLeave(role: Role): void {
  if (role === 'owner')
    throw new ServiceError('permission_denied', 'The owner cannot leave; transfer the ownership or delete the team')
}
