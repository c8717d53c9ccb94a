// The length of passwords.

/** In characters of Unicode, as the schema of a request counts them. */
export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 200

/** Why the service would refuse a new password; `null` when it would not. */
export function passwordFault(password: string): string | null {
  const { length } = [...password]
  if (length >= PASSWORD_LENGTH_MIN && length <= PASSWORD_LENGTH_MAX) return null
  return `the password must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters (got ${length})`
}
