// The adapters of the providers that this installation can talk to.
import {
  type ProviderName,
  type ProviderUrls,
  quantumProviders,
  type ServiceOf
} from '../../domain/backends/quantum-providers.js'
import type { CreateProviderCalls, ProviderAdapter } from './adapter.js'
import { createAzure } from './azure/azure.js'
import { createBraket } from './braket/braket.js'
import { createIbm } from './ibm/ibm.js'
import { createIonq } from './ionq.js'

/** The file that makes the calls of each provider in domain/backends/quantum-providers.ts. */
const create: { [Name in ProviderName]: CreateProviderCalls<ServiceOf<Name>> } = {
  IonQ: createIonq,
  'AWS Braket': createBraket,
  'IBM Quantum': createIbm,
  'Azure Quantum': createAzure
}

export interface Providers {
  /** By the name in the catalogue of backends. */
  adapters: ReadonlyMap<string, ProviderAdapter>
  close(): Promise<void>
}

export function createProviders(
  urls: ProviderUrls = {},
  { callTimeoutMs }: { callTimeoutMs?: number } = {}
): Providers {
  const all = quantumProviders.map((row) => ({ ...row, ...create[row.name](urls[row.credentials], callTimeoutMs) }))
  return {
    adapters: new Map(all.map((adapter) => [adapter.name, adapter])),
    close: async () => {
      await Promise.all(all.map((adapter) => adapter.close()))
    }
  }
}
