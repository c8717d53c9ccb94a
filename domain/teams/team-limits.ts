// How many things a user or a team can have. Caps with rules of their own stand with those: webhooks in webhook.ts, scripts
// in domain/scripts/script.ts.

/** The teams that a user can belong to. */
export const TEAMS_PER_USER_MAX = 100
export const MEMBERS_MAX = 1_000
export const PENDING_INVITATIONS_MAX = 200
export const API_KEYS_MAX = 100
