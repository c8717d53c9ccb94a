// Keeps the requests to each provider within its rates: counted for each team, across all workers that share one Redis. The
// rates only spare the provider requests that it would turn away, so when Redis is unavailable, requests are sent.
import type { RateLimitStore } from '../rate-limits/rate-limit-store.js'
import type { ProviderRate } from './adapter.js'

export interface ProviderRates {
  /** `null` when the request can be sent, and counts; otherwise after how many milliseconds to try again. Never rejects. */
  take(request: { provider: string; team: string; kind: 'submit' | 'look'; rate: ProviderRate }): Promise<number | null>
}

/** @param scale a factor on every rate; 0 counts nothing. */
export const createProviderRates = (store: RateLimitStore, scale = 1): ProviderRates => ({
  async take({ provider, team, kind, rate }) {
    if (scale === 0) return null
    const limit = { ...rate, name: `provider-${kind}`, max: Math.max(1, Math.round(rate.max * scale)) }
    const taken = await store.take([{ limit, key: `${provider} ${team}` }])
    return taken.ok ? null : taken.retryAfterSeconds * 1_000
  }
})
