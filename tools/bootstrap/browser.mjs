// The browser of the console's tests: CHROME_PATH, else on PATH, else from the distribution's own packages when that can be
// done without asking. The other tests do not need it, so its absence is no failure.
import { canInstallPackages, installPackage } from './apt.mjs'
import { onPath } from './on-path.mjs'
import { say, step } from './progress.mjs'

const names = ['chromium', 'chromium-headless-shell', 'google-chrome', 'google-chrome-stable', 'chromium-browser']

const installed = () => names.map(onPath).find(Boolean) ?? null

/** @returns its path, or null when there is none. */
export async function findBrowser(logs) {
  const found = process.env.CHROME_PATH || installed()
  if (found) return found
  if (canInstallPackages()) {
    const get = () => installPackage('chromium-headless-shell', logs)
    await step('Chromium (apt-get install chromium-headless-shell)', get).catch((error) => say(error.message))
  }
  const now = installed()
  if (now === null)
    say('No Chromium: the tests of the console in a browser are skipped. Install it, or set CHROME_PATH to one.')
  return now
}
