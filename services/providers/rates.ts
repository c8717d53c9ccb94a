// Keeps the requests to each provider within its rates: counted for each team, across all workers that share one Redis. The
// rates only spare the provider requests that it would turn away, so when Redis is unavailable, requests are sent.
import type { RateLimitStore } from '../rate-limits/rate-limit-store.js'
import type { ProviderRate } from './adapter.js'

/**
 * A request is counted before it is prepared and sent, so two that are counted a second apart can arrive closer together. The
 * windows are longer by this, which keeps the rate where the provider counts.
 */
const ARRIVAL_SLACK_SECONDS = 0.25

export interface ProviderRates {
  /** `null` when the request can be sent, and counts; otherwise after how many milliseconds to try again. Never rejects. */
  take(request: { provider: string; team: string; kind: 'submit' | 'look'; rate: ProviderRate }): Promise<number | null>
}

/** @param scale a factor on every rate; 0 counts nothing. */
export const createProviderRates = (store: RateLimitStore, scale = 1): ProviderRates => ({
  async take({ provider, team, kind, rate }) {
    if (scale === 0) return null
    const limit = {
      name: `provider-${kind}`,
      max: Math.max(1, Math.round(rate.max * scale)),
      windowSeconds: rate.windowSeconds + ARRIVAL_SLACK_SECONDS
    }
    const taken = await store.take([{ limit, key: `${provider} ${team}` }])
    return taken.ok ? null : taken.retryAfterSeconds * 1_000
  }
})
