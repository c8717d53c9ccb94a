// How the console sends requests: it waits as the service asks, lets the owner of an ended session sign in again and then
// repeats what was refused, and notices when the service cannot be reached. A refused request took no effect, so repeating it
// is safe.
import { ConnectionLost } from './api-error.js'
import { onServiceState, serviceState, setServiceState } from './service-state.js'

/** A page that waited longer than this would look broken: the refusal is shown instead. */
const PATIENCE_SECONDS = 120
const PROBE_FIRST_MS = 1_000
const PROBE_LAST_MS = 15_000

/** Routes whose 401 is about what was typed, or that ask whether there is a session. */
const aboutAccounts = /^\/api\/auth\/(?!sessions|change-password)/

let signedIn = false

/** Tells whether there is a session to lose. */
export function rememberSignedIn(value: boolean): void {
  signedIn = value
  if (value) setServiceState({ sessionEnded: false })
}

export const patientFetch = (request: Request): Promise<Response> => patiently(request, () => fetch(request.clone()))

/**
 * For requests that `fetch` does not send.
 * @param attempt sends it; rejects when the service cannot be reached, or with the reason of the signal.
 * @throws ConnectionLost, or the reason of the signal.
 */
export async function patiently(
  { url, signal }: Pick<Request, 'url' | 'signal'>,
  attempt: () => Promise<Response>
): Promise<Response> {
  for (;;) {
    const response = await send(attempt, signal)
    const seconds = secondsToWait(response)
    if (seconds !== null) await waitFor(seconds, signal)
    else if (response.status === 401 && signedIn && !aboutAccounts.test(new URL(url).pathname)) {
      setServiceState({ sessionEnded: true })
      await until(({ sessionEnded }) => !sessionEnded, signal)
    } else return response
  }
}

async function send(attempt: () => Promise<Response>, signal: AbortSignal): Promise<Response> {
  try {
    const response = await attempt()
    setServiceState({ reachable: true })
    return response
  } catch (error) {
    if (signal.aborted) throw error
    noteUnreachable()
    throw new ConnectionLost(error)
  }
}

/** `null`: the response is to be used. */
function secondsToWait(response: Response): number | null {
  const asked = Number(response.headers.get('retry-after') ?? Number.NaN)
  const refusedForNow = response.status === 429 || response.headers.get('x-error-code') === 'request_under_way'
  return refusedForNow && asked >= 0 && asked <= PATIENCE_SECONDS ? asked : null
}

async function waitFor(seconds: number, signal: AbortSignal): Promise<void> {
  const until = Math.max(serviceState().waitUntil ?? 0, Date.now() + seconds * 1000)
  setServiceState({ waitUntil: until })
  await pause(seconds * 1000, signal)
  if (serviceState().waitUntil === until) setServiceState({ waitUntil: null })
}

/** Resolves when the state satisfies `holds`. @throws the reason of the signal. */
function until(holds: (state: ReturnType<typeof serviceState>) => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      stop()
      signal.removeEventListener('abort', abort)
    }
    const abort = () => {
      end()
      reject(signal.reason)
    }
    const stop = onServiceState(() => {
      if (!holds(serviceState())) return
      end()
      resolve()
    })
    signal.addEventListener('abort', abort)
  })
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
  })
}

let probing = false

/** Asks whether the service is back, less and less often, until it is. */
async function noteUnreachable(): Promise<void> {
  setServiceState({ reachable: false })
  if (probing) return
  probing = true
  for (let ms = PROBE_FIRST_MS; ; ms = Math.min(2 * ms, PROBE_LAST_MS)) {
    await new Promise((resolve) => setTimeout(resolve, ms))
    if (await isAnswering()) break
  }
  probing = false
  setServiceState({ reachable: true })
}

const isAnswering = (): Promise<boolean> =>
  fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false
  )

/** Asks it. All pages then know. */
export async function isReachable(): Promise<boolean> {
  const reachable = await isAnswering()
  if (!reachable) noteUnreachable()
  return reachable
}

/** Resolves when the service can be reached. @returns whether it could not at first. */
export async function whenReachable(): Promise<boolean> {
  if (await isReachable()) return false
  await until(({ reachable }) => reachable, new AbortController().signal)
  return true
}
