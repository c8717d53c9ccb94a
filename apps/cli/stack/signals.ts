// Handles Ctrl-C, a closed terminal and kill: the first signal stops everything in order, the second kills it.

/** npm repeats a Ctrl-C that the terminal has already delivered, so two signals within this time are one. */
const sameKeyMs = 500

export interface EndSignals {
  /** Aborted by the first signal. */
  signal: AbortSignal
  /** Resolves with the first signal. */
  first: Promise<void>
  /** Sets what a second signal does before the process exits. */
  onSecond(kill: () => void): void
}

export function onEndSignals(report: (line: string) => void): EndSignals {
  const controller = new AbortController()
  let kill = () => {}
  let firstAt = 0
  const first = new Promise<void>((resolve) => controller.signal.addEventListener('abort', () => resolve()))
  const onSignal = (name: NodeJS.Signals) => {
    if (!controller.signal.aborted) {
      firstAt = Date.now()
      report(`${name === 'SIGINT' ? '\n' : ''}Stopping everything in order (${name}; repeat to force it).`)
      return controller.abort(new Error(name))
    }
    if (Date.now() - firstAt < sameKeyMs) return
    report('Killing everything.')
    kill()
    // The watchdog stops what has just been started and is not known here yet.
    process.exit(130)
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal)
  // A closed terminal must not interrupt the orderly stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  return { signal: controller.signal, first, onSecond: (action) => (kill = action) }
}
