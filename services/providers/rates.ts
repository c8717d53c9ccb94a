// Keeps the requests to each provider within its rates: counted for each team, across all workers that share one Redis. The
// rates only spare the provider requests that it would turn away, so when Redis is unavailable, requests are sent.
import type { RateLimitStore } from '../rate-limits/rate-limit-store.js'
import type { ProviderRate } from './adapter.js'

export interface ProviderRates {
  /** `null` when the request can be sent, and counts; otherwise after how many milliseconds to try again. Never rejects. */
  take(request: { provider: string; team: string; kind: 'submit' | 'look'; rate: ProviderRate }): Promise<number | null>
}

export const createProviderRates = (store: RateLimitStore): ProviderRates => ({
  async take({ provider, team, kind, rate }) {
    const taken = await store.take([{ limit: { name: `provider-${kind}`, ...rate }, key: `${provider} ${team}` }])
    return taken.ok ? null : taken.retryAfterSeconds * 1_000
  }
})
