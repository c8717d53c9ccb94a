// The providers that this installation can talk to.
import type { ProviderAdapter } from './adapter.js'
import { createIonq } from './ionq.js'

export interface Providers {
  /** By the name in the catalogue of backends. */
  adapters: ReadonlyMap<string, ProviderAdapter>
  close(): Promise<void>
}

/** @param urls where a provider's service is, when it is not its own (an emulator). */
export function createProviders(
  urls: { ionq?: string | undefined } = {},
  { callTimeoutMs }: { callTimeoutMs?: number } = {}
): Providers {
  const all = [createIonq(urls.ionq, callTimeoutMs)]
  return {
    adapters: new Map(all.map((adapter) => [adapter.name, adapter])),
    close: async () => {
      await Promise.all(all.map((adapter) => adapter.close()))
    }
  }
}
