// The clock of an emulated provider: the machine's time plus an offset. Tests advance it to pass days in a queue at once.

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
