// The last check of a start: the api reports that it reaches every part.
import { setTimeout as delay } from 'node:timers/promises'

const limitMs = 30_000
const pauseMs = 50

/** Waits until GET /readyz reports every part as ok; rejects with the parts that are not. */
export async function untilReady(apiUrl: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + limitMs
  for (;;) {
    signal.throwIfAborted()
    const waitingFor = await partsNotOk(apiUrl)
    if (waitingFor.length === 0) return
    if (Date.now() > deadline) {
      throw new Error(`The api runs, but after ${limitMs / 1000} s it does not reach: ${waitingFor.join(', ')}.`)
    }
    await delay(pauseMs)
  }
}

async function partsNotOk(apiUrl: string): Promise<string[]> {
  try {
    const response = await fetch(`${apiUrl}/readyz`, { signal: AbortSignal.timeout(5000) })
    const { parts } = (await response.json()) as { parts: Record<string, { state: string; message?: string }> }
    return Object.entries(parts).flatMap(([name, { state, message }]) =>
      state === 'ok' ? [] : [`${name} (${message ?? state})`]
    )
  } catch (error) {
    return [`/readyz (${(error as Error).message})`]
  }
}
