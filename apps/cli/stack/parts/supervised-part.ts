// One part of the stack, which is restarted if it stops unexpectedly.
import { setTimeout as delay } from 'node:timers/promises'
import { type Child, describeExit } from './child.js'

const firstPauseMs = 200
/** A part that keeps failing is restarted twice a minute for as long as the stack runs, in case its cause is fixed. */
const longestPauseMs = 30_000
/** After this long without a failure, the next one counts as the first. */
const steadyMs = 60_000

export interface PartObserver {
  /** Prints a line for the user and logs it. */
  report(line: string, level: 'info' | 'warn'): void
  /** Called when the part runs as a new process. */
  running(child: Child): void
  /** Aborted when the stack stops. */
  signal: AbortSignal
}

export class SupervisedPart {
  private failures = 0
  /** The restart in progress, if any: stopping has to wait for the child that it may be starting. */
  private restarting: Promise<void> = Promise.resolve()

  private constructor(
    private readonly begin: () => Promise<Child>,
    private readonly observer: PartObserver,
    /** The present process, or the last one. */
    public current: Child
  ) {}

  /**
   * Starts the part and keeps it running until `observer.signal` is aborted. A failed first start rejects and is not
   * repeated.
   */
  static async start(begin: () => Promise<Child>, observer: PartObserver): Promise<SupervisedPart> {
    const part = new SupervisedPart(begin, observer, await begin())
    part.watch()
    return part
  }

  /** Stops the part. Call it after the signal was aborted. */
  async stop(): Promise<void> {
    await this.restarting
    await this.current.stop()
  }

  private watch(): void {
    const { current, observer } = this
    observer.running(current)
    const startedAt = Date.now()
    void current.exited.then((exit) => {
      if (observer.signal.aborted) return
      if (Date.now() - startedAt > steadyMs) this.failures = 0
      this.restarting = this.restart(`stopped (${describeExit(exit)})`)
    })
  }

  private async restart(firstReason: string): Promise<void> {
    const { report, signal } = this.observer
    const { name } = this.current
    let reason = firstReason
    for (;;) {
      this.failures += 1
      const pauseMs = Math.min(firstPauseMs * 2 ** (this.failures - 1), longestPauseMs)
      report(`${name} ${reason}: restarting in ${pauseMs / 1000} s (restart ${this.failures})`, 'warn')
      await delay(pauseMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        this.current = await this.begin()
        report(`${name} is running again (process ${this.current.pid})`, 'info')
        return this.watch()
      } catch (error) {
        if (signal.aborted) return
        reason = `cannot be restarted: ${(error as Error).message}\n${name}`
      }
    }
  }
}
