// Loads a part of the console that has a file of its own. The service may be away, or have a newer build, whose files have
// other names. Either way what the browser or the bundler says of it is not for a reader.
import { ConnectionLost } from '../api/api-error.js'
import { isReachable, whenReachable } from '../api/patient-fetch.js'

/** Where a reload is remembered that was to bring the files of a newer build. */
const RELOADED_AT = 'reloaded for a missing part'

/** A part that is still missing so soon after a reload is missing in the newest build too. */
const RELOAD_AGAIN_MS = 60_000

/** Waits while the service is away, and the banner says so. Loads the page again where a file is gone. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load()
  } catch (error) {
    const wasAway = await whenReachable()
    // The bundler takes a style sheet that failed for a loaded one.
    const lacksStyles = error instanceof Error && error.message.includes('CSS')
    if (lacksStyles) return loadPageAgain(wasAway)
    // Some browsers remember that a file could not be loaded until the page is loaded again.
    return load().catch(() => loadPageAgain(wasAway))
  }
}

/** For a part that is loaded by other means, and is missing. @throws ConnectionLost while the service is away. */
export async function partIsMissing(cause: Error): Promise<never> {
  if (!(await isReachable())) throw new ConnectionLost(cause)
  return loadPageAgain(false)
}

/** Once: a second time soon after it throws. @param wasAway waiting for the service keeps this from being a loop. */
function loadPageAgain(wasAway: boolean): Promise<never> {
  if (!wasAway && !mayReload()) throw new PartMissing()
  location.reload()
  return new Promise(() => {})
}

class PartMissing extends Error {
  constructor() {
    super('A part of this page cannot be loaded, although the service can be reached. Try again in a minute.')
  }
}

function mayReload(): boolean {
  try {
    const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0)
    if (Date.now() - last < RELOAD_AGAIN_MS) return false
    sessionStorage.setItem(RELOADED_AT, String(Date.now()))
    return true
  } catch {
    // Without storage nothing would stop a loop.
    return false
  }
}
