// The error of a failed query. drizzle's own contains every parameter in its message, its stack and a field: passwords,
// programs and results would reach logs and Temporal's histories with each restart of the database.
import { PgPreparedQuery } from 'drizzle-orm/pg-core'

/** What Postgres or its driver reported, without the fields that quote rows and parameters. */
class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault'
  readonly code: string | undefined
  readonly constraint_name: string | undefined
  constructor(fault: unknown) {
    const { code, constraint_name, message } = (fault ?? {}) as Record<string, unknown>
    super(messageOf(code, message))
    if (typeof code === 'string') this.code = code
    if (typeof constraint_name === 'string') this.constraint_name = constraint_name
  }
}

/** Class 22, data exceptions: their messages quote the value (`invalid input syntax for type uuid: "..."`). */
const messageOf = (code: unknown, message: unknown): string =>
  typeof code === 'string' && code.startsWith('22') ? `a value was refused (${code})` : String(message)

class FailedQuery extends Error {
  override readonly name = 'FailedQuery'
  /** @param query its text, in which parameters are numbers. */
  constructor(
    readonly query: string,
    fault: unknown
  ) {
    super(`Failed query: ${query}`, { cause: new DatabaseFault(fault) })
  }
}

/** Replaces the one function of drizzle that makes its error. Its cache, which the function also serves, is not used here. */
export function withholdParameters(): void {
  Object.assign(PgPreparedQuery.prototype, {
    async queryWithCache(query: string, _parameters: unknown, run: () => Promise<unknown>): Promise<unknown> {
      try {
        return await run()
      } catch (fault) {
        throw new FailedQuery(query, fault)
      }
    }
  })
}
