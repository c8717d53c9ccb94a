// Tests in a real browser. Without one they are named as skipped; continuous integration has to have one.
import { test } from '@jest/globals'

export const browserPath: string | null = process.env.TEST_BROWSER || null

const skipped = test[`skip` as 'only']

/** Declares a test that needs the browser. */
export const browserTest: typeof test =
  browserPath !== null
    ? test
    : process.env.CI === 'true'
      ? (((name: string) =>
          test(name, () => {
            throw new Error('There is no Chromium: install one, or set CHROME_PATH')
          })) as unknown as typeof test)
      : (skipped as typeof test)
