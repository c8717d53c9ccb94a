// Waiting in tests: for a state that stays true, never for an event that can be missed, and never without a limit.
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Repeats `check` until it returns something other than `null` or `false`, and returns that. An assertion that throws
 * counts as "not yet"; after `timeoutMs` the last one is thrown.
 * @param options.message an addition to the time-out error, computed only then.
 */
export async function eventually<T>(
  check: () => T | null | false | Promise<T | null | false>,
  options: { timeoutMs?: number; everyMs?: number; message?: () => string | Promise<string> } = {}
): Promise<T> {
  const { timeoutMs = 60_000, everyMs = 25, message } = options
  const deadline = performance.now() + timeoutMs
  while (true) {
    let failure: unknown = null
    try {
      const answer = await check()
      if (answer !== null && answer !== false) return answer
    } catch (error) {
      failure = error
    }
    if (performance.now() > deadline) {
      const detail = message ? `\n${await message()}` : ''
      throw new Error(`not so within ${timeoutMs} ms${detail}`, { cause: failure ?? undefined })
    }
    await delay(everyMs)
  }
}
