// Roles of a team's members, and the life of an invitation to it.

export const roles = ['owner', 'admin', 'member'] as const
export type Role = (typeof roles)[number]

/** The roles that an invitation or another member can give. Ownership is transferred, never given. */
export const givenRoles = ['admin', 'member'] as const satisfies Role[]
export type GivenRole = (typeof givenRoles)[number]

export const invitationStatuses = ['pending', 'accepted', 'cancelled', 'expired'] as const
export type InvitationStatus = (typeof invitationStatuses)[number]
