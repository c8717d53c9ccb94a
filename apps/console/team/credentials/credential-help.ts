// What stands below the field of a credential, and what is sent of the fields.
import type { Provider } from '../team-queries.js'

type CredentialField = Provider['credentials'][number]

export const helpOf = ({ expected, together, needed_for_jobs }: CredentialField, stored: boolean): string =>
  [
    expected,
    together.length > 0 ? `together with ${together.join(', ')}` : null,
    needed_for_jobs,
    stored ? 'empty: the saved value stays' : null
  ]
    .filter(Boolean)
    .join('; ')

/** Fields that are left empty are left out: the stored value stays. */
export const typedValues = (typed: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ''))
