// Tests that need a program which not every machine has. Without it they are named as skipped; continuous integration has to
// have it.
import { test } from '@jest/globals'

const skipped = test[`skip` as 'only']

/** @param path of the program; `null`: there is none. @param remedy what to install or to set. */
export function testWith(path: string | null, remedy: string): typeof test {
  if (path !== null) return test
  if (process.env.CI !== 'true') return skipped as typeof test
  const failing = (name: string) =>
    test(name, () => {
      throw new Error(remedy)
    })
  return failing as unknown as typeof test
}
