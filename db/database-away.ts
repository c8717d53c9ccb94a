import { errorKind } from '../domain/operations/error-kind.js'
import { postgresCode } from './client.js'
import { CONNECTION_ERROR } from './connection/database-socket.js'

/** The names of errors that this service's queries, and the driver, throw. */
const names = new Set(['FailedQuery', 'DatabaseFault', 'PostgresError', CONNECTION_ERROR])
/** What a statement itself can use up: memory, and a limit of the configuration. */
const faultsOfStatements = new Set(['53200', '53400'])
/** Longer chains of causes have a loop. */
const DEPTH_MAX = 10

/** Whether the database cannot be reached, or accepts no work: no fault of the statement, and no other server. */
export const isDatabaseAway = (error: unknown): boolean =>
  errorKind(error) === 'away' && isOfDatabase(error) && !faultsOfStatements.has(postgresCode(error) ?? '')

function isOfDatabase(error: unknown): boolean {
  let at = error as { name?: string; code?: unknown; cause?: unknown } | undefined
  for (let depth = 0; at && depth < DEPTH_MAX; depth++) {
    // The driver's own errors have no name: CONNECTION_CLOSED, CONNECTION_ENDED.
    if (names.has(at.name ?? '') || String(at.code).startsWith('CONNECTION_')) return true
    at = at.cause as typeof at
  }
  return false
}
