// A process of the cluster that can be killed, frozen and started again, in this release or the next.
import type { Child } from '../../apps/cli/stack/parts/child.js'
import type { Release } from './release.js'

export interface Part {
  name: string
  /** Starts the process, in the release that it had unless another one is given; resolves when it serves. */
  start(release?: Release): Promise<void>
  /** Waits for the end of its work, as a supervisor does. */
  stop(): Promise<void>
  /** Like a crash. */
  kill(): Promise<void>
  /** Its connections stay open, and nothing answers, until `thaw`. */
  freeze(): void
  thaw(): void
}

export function createPart(name: string, first: Release, startIn: (release: Release) => Promise<Child>): Part {
  let release = first
  let child: Child | null = null
  const signal = (which: NodeJS.Signals) => {
    if (child && !child.exit) process.kill(-child.pid, which)
  }
  return {
    name,
    async start(other = release) {
      release = other
      child = await startIn(release)
    },
    async stop() {
      await child?.stop()
    },
    async kill() {
      child?.kill()
      await child?.exited
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT')
  }
}
