// How many jobs a user starts in a minute of emulated time.

const minuteMs = 60_000

export class StartRate {
  private readonly starts = new Map<string, number[]>()

  /** False if the user has made `max` starts in the last minute; otherwise counts this one. */
  take(user: string, max: number, now: number): boolean {
    const recent = (this.starts.get(user) ?? []).filter((at) => now - at < minuteMs)
    const isTaken = recent.length < max
    this.starts.set(user, isTaken ? [...recent, now] : recent)
    return isTaken
  }

  reset(): void {
    this.starts.clear()
  }
}
