// The operator's limits in queries. They are written into the text of each statement, and not set on the session: a pooler
// can give one session to several processes, each with limits of its own.
import { type SQL, sql } from 'drizzle-orm'
import type { OperatorLimits } from '../domain/operations/operator-limits.js'

const limitNames = ['teamStorageMax', 'retentionYearsMax'] as const satisfies (keyof OperatorLimits)[]

/** Null in a process that has no limits of its own. */
const markOf = (name: keyof OperatorLimits): string => `current_setting('qjs.${name}', true)`

/** The limit as text, or null. */
export const operatorLimit = (name: keyof OperatorLimits): SQL => sql.raw(markOf(name))

/** @param query its text, as drizzle made it. */
export function withLimits(query: string, limits: OperatorLimits | null): string {
  if (!limits || !query.includes("current_setting('qjs.")) return query
  return limitNames.reduce((text, name) => text.replaceAll(markOf(name), `'${limits[name]}'`), query)
}
