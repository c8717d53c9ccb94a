// The short lane is `npm test`; `npm run test:all` and a run of named files take everything.
import { test } from '@jest/globals'

export const everything = process.env.TEST_LANE !== 'short'

/** All rows of a table; in the short lane only those that stand for the others. */
export const rowsOfLane = <Row>(rows: readonly Row[], standsForOthers: (row: Row, index: number) => boolean): Row[] =>
  everything ? [...rows] : rows.filter(standsForOthers)

const unregistered = Object.assign(() => {}, { each: () => () => {} }) as unknown as typeof test

/** Declares a test of the long lane, in a file whose other tests run in both. */
export const longTest = everything ? test : unregistered

/**
 * Declares a test of a table's row, of a promise that hardly depends on the row: the short lane runs it at the first row alone.
 */
export const testOfRow = (isFirst: boolean): typeof test => (isFirst ? test : longTest)
