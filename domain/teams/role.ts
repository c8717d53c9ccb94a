// The roles of a team's members.

/** A team has one owner. */
export const roles = ['owner', 'admin', 'member'] as const
export type Role = (typeof roles)[number]

/** The roles that an invitation or a change of role can give. Ownership cannot be given. */
export const assignableRoles = ['admin', 'member'] as const satisfies readonly Role[]
export type AssignableRole = (typeof assignableRoles)[number]

/** An invitation that has expired is stored as `pending`; its `expiresAt` decides. */
export const storedInvitationStates = ['pending', 'accepted', 'cancelled'] as const
export type StoredInvitationState = (typeof storedInvitationStates)[number]
export const invitationStates = [...storedInvitationStates, 'expired'] as const
export type InvitationState = (typeof invitationStates)[number]
