// Ends a process within a limit. A part that is cut off from its server can wait for it for ever, and a supervisor would kill
// the process without a word about why.
import pTimeout from 'p-timeout'
import type { Logger } from 'pino'

/** Waits until a part has closed. A fault is logged, and keeps no other part open. */
export type ClosePart = (name: string, closed: Promise<unknown> | undefined) => Promise<void>

/**
 * @param close closes the parts of the process in their order, each through its parameter.
 * @returns the exit code: 1 when parts were still open after `limitMs`, or could not be closed.
 */
export async function closeWithin(
  limitMs: number,
  log: Pick<Logger, 'error' | 'warn'>,
  close: (part: ClosePart) => Promise<void>
): Promise<0 | 1> {
  const open = new Set<{ name: string }>()
  const part: ClosePart = async (name, closed) => {
    const entry = { name }
    open.add(entry)
    try {
      await closed
    } catch (err) {
      log.warn({ part: name, err }, 'a part of the process failed while it closed')
    } finally {
      open.delete(entry)
    }
  }
  try {
    const ended = await pTimeout(
      close(part).then(() => true),
      { milliseconds: limitMs, fallback: () => false }
    )
    if (ended) return 0
    const parts = [...new Set([...open].map(({ name }) => name))].sort()
    log.error({ parts, seconds: limitMs / 1_000 }, 'the process exits before these parts have closed')
  } catch (err) {
    log.error({ err }, 'the process exits before its parts have closed')
  }
  return 1
}
