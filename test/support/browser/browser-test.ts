import { testWith } from '../needed-program.js'

export const browserPath: string | null = process.env.TEST_BROWSER || null

/** Declares a test that needs the browser. */
export const browserTest = testWith(browserPath, 'There is no Chromium: install one, or set CHROME_PATH')
