import { testWith } from '../needed-program.js'

export const browserPath: string | null = process.env.TEST_BROWSER || null

/** Several processes draw a page, and each of them may have to wait for a busy machine. */
const LIMIT_MS = 180_000

const declare = testWith(browserPath, 'There is no Chromium: install one, or set CHROME_PATH')

/** Declares a test that needs the browser. */
export const browserTest = (name: string, act: () => Promise<void>, limitMs = LIMIT_MS): void =>
  declare(name, act, Math.max(limitMs, LIMIT_MS))
