// Ctrl-C, a closed terminal, a polite kill: the first asks for an orderly end, the second for an immediate one.

/** npm passes a Ctrl-C on that the terminal has delivered already: two signals this close together are one. */
const sameKeyMs = 500

export interface EndSignals {
  /** Aborted by the first signal. */
  signal: AbortSignal
  /** Settles with the first signal. */
  first: Promise<void>
  /** What an impatient second signal does before the process exits. */
  onSecond(kill: () => void): void
}

export function onEndSignals(say: (line: string) => void): EndSignals {
  const controller = new AbortController()
  let kill = () => {}
  let firstAt = 0
  const first = new Promise<void>((resolve) => controller.signal.addEventListener('abort', () => resolve()))
  const onSignal = (name: NodeJS.Signals) => {
    if (!controller.signal.aborted) {
      firstAt = Date.now()
      say(`${name === 'SIGINT' ? '\n' : ''}Ending everything in order (${name}; once more to force it).`)
      return controller.abort(new Error(name))
    }
    if (Date.now() - firstAt < sameKeyMs) return
    say('Ending everything at once.')
    kill()
    // The watchdog sees to what has just been started and is not known here.
    process.exit(130)
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal)
  // A terminal that went away must not end the stack in the middle of its end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  return { signal: controller.signal, first, onSecond: (action) => (kill = action) }
}
