// The time that an emulated provider lives by: the machine's, and whatever has been added to it. Time goes on by itself;
// moving it ahead is how a test lives through days in a queue.

export class EmulatedClock {
  private offsetMs = 0

  /** Milliseconds since 1970. */
  now(): number {
    return Date.now() + this.offsetMs
  }

  advance(ms: number): void {
    this.offsetMs += ms
  }

  reset(): void {
    this.offsetMs = 0
  }
}

export const isoTime = (ms: number): string => new Date(ms).toISOString()
