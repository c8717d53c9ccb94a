// For sweeps in tests that expect no failure of a row.
import type { RowFailures } from '../../db/sweep-rows.js'

export const throwFailure = (_row: unknown, error: unknown): never => {
  throw error
}

export const noFailures: RowFailures = { except: () => [], failed: throwFailure }
