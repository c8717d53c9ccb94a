// The names of actors in audit trails. Entries hold ids alone, so that an account can be deleted; a name is looked up when a
// trail is read.
import { and, eq, sql } from 'drizzle-orm'
import { anyOf, type DbOrTx } from '../client.js'
import { users } from '../tables/accounts.js'
import { apiKeys } from '../tables/teams.js'

/**
 * By actor, as entries name it. Without those that are not known any more, the service itself, and platform administrators,
 * whose names are not for teams.
 */
export async function actorNames(
  db: DbOrTx,
  teamId: string,
  actors: Iterable<string>
): Promise<Record<string, string>> {
  const ids = { user: new Set<string>(), key: new Set<string>() }
  for (const actor of actors) {
    const [kind, id] = actor.split(':') as [string, string | undefined]
    if (id !== undefined && (kind === 'user' || kind === 'key')) ids[kind].add(id)
  }
  const people = db
    .select({ id: users.id, name: sql<string>`coalesce(${users.displayName}, ${users.username})` })
    .from(users)
    .where(anyOf(users.id, [...ids.user]))
  const keys = db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(and(anyOf(apiKeys.id, [...ids.key]), eq(apiKeys.teamId, teamId)))
  const [ofPeople, ofKeys] = await Promise.all([ids.user.size > 0 ? people : [], ids.key.size > 0 ? keys : []])
  return Object.fromEntries([
    ...ofPeople.map(({ id, name }) => [`user:${id}`, name]),
    ...ofKeys.map(({ id, name }) => [`key:${id}`, name])
  ])
}
