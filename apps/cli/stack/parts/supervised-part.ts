// One part of the stack that is started again when it ends unasked.
import { setTimeout as delay } from 'node:timers/promises'
import { type Child, describeExit } from './child.js'

const firstPauseMs = 200
/** A part that cannot live is tried twice a minute for as long as the stack lives: its cause may be mended meanwhile. */
const longestPauseMs = 30_000
/** After this long without a fall, the next one counts as the first. */
const steadyMs = 60_000

export interface PartObserver {
  /** A line for the person at the terminal. */
  say(line: string): void
  /** The part runs as this process from now on. */
  running(child: Child): void
  /** Aborted when the stack ends. */
  signal: AbortSignal
}

export class SupervisedPart {
  private falls = 0
  /** The restart under way, if any: an end has to wait for the child it may just be starting. */
  private restarting: Promise<void> = Promise.resolve()

  private constructor(
    private readonly begin: () => Promise<Child>,
    private readonly observer: PartObserver,
    /** The process that runs, or ran last. */
    public current: Child
  ) {}

  /**
   * Starts the part and keeps it running until `observer.signal` is aborted. A first start that fails rejects: what
   * never ran is not repeated.
   */
  static async start(begin: () => Promise<Child>, observer: PartObserver): Promise<SupervisedPart> {
    const part = new SupervisedPart(begin, observer, await begin())
    part.watch()
    return part
  }

  /** Ends the part; call it after the signal was aborted. */
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
      if (Date.now() - startedAt > steadyMs) this.falls = 0
      this.restarting = this.restart(`stopped (${describeExit(exit)})`)
    })
  }

  private async restart(firstReason: string): Promise<void> {
    const { say, signal } = this.observer
    const { name } = this.current
    let reason = firstReason
    for (;;) {
      this.falls += 1
      const pauseMs = Math.min(firstPauseMs * 2 ** (this.falls - 1), longestPauseMs)
      say(`${name} ${reason}: starting it again in ${pauseMs / 1000} s (restart ${this.falls})`)
      await delay(pauseMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        this.current = await this.begin()
        say(`${name} runs again (process ${this.current.pid})`)
        return this.watch()
      } catch (error) {
        if (signal.aborted) return
        reason = `does not come back: ${(error as Error).message}\n${name}`
      }
    }
  }
}
