/** Values by key for a limited time. Beyond `max` values, the oldest is dropped. */
export class TimedCache<T> {
  private readonly values = new Map<string, { value: T; expiresAt: number }>()

  constructor(
    private readonly max: number,
    private readonly lifeMs: number
  ) {}

  /** @param load is called when there is no value; what it rejects with is not stored. */
  async get(key: string, load: () => Promise<T>): Promise<T> {
    const kept = this.values.get(key)
    if (kept && performance.now() < kept.expiresAt) return kept.value
    const value = await load()
    this.values.delete(key)
    this.values.set(key, { value, expiresAt: performance.now() + this.lifeMs })
    if (this.values.size > this.max) this.values.delete(this.values.keys().next().value!)
    return value
  }
}
