/** Values by key for a limited time. Beyond `max` values, the oldest is dropped. */
export class TimedCache<T> {
  private readonly values = new Map<string, { value: T; expiresAt: number }>()

  /** @param lifeMs of every value, or of each one. */
  constructor(
    private readonly max: number,
    private readonly lifeMs: number | ((value: T) => number)
  ) {}

  /** @param load is called when there is no value; what it rejects with is not stored. */
  async get(key: string, load: () => Promise<T>): Promise<T> {
    const kept = this.peek(key)
    if (kept !== undefined) return kept
    const value = await load()
    this.set(key, value)
    return value
  }

  peek(key: string): T | undefined {
    const kept = this.values.get(key)
    return kept && performance.now() < kept.expiresAt ? kept.value : undefined
  }

  set(key: string, value: T): void {
    const lifeMs = typeof this.lifeMs === 'number' ? this.lifeMs : this.lifeMs(value)
    this.values.delete(key)
    this.values.set(key, { value, expiresAt: performance.now() + lifeMs })
    if (this.values.size > this.max) this.values.delete(this.values.keys().next().value!)
  }

  /** Forgets a value that turned out to be useless; one that has replaced it stays. */
  drop(key: string, value: T): void {
    if (this.values.get(key)?.value === value) this.values.delete(key)
  }
}
