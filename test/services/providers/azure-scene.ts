// A small team's use of Azure Quantum for the tests of its adapter: a place, a job, and a server with plain answers.
import { expect } from '@jest/globals'
import { ProviderFault, type ProviderFaultKind } from '../../../services/providers/adapter.js'
import { createAzure } from '../../../services/providers/azure/azure.js'
import { jobIdOf } from '../../../services/providers/azure/jobs.js'
import { account, jobOf, principal, startAzure } from './azure-server.js'

export const at = { credentials: principal, place: { account, location: 'eastus' } }
export const ID = jobIdOf('0'.repeat(64))
export const { signal } = new AbortController()

export const fault = (kind: ProviderFaultKind, message: RegExp | string) =>
  expect.objectContaining({ name: ProviderFault.name, kind, message: expect.stringMatching(message) })

/** A server with a plain answer to every call, and the calls of an adapter to it. */
export async function startAzureScene() {
  const server = await startAzure()
  const scene = {
    server,
    azure: createAzure(server.urls),
    /** A new adapter remembers nothing. */
    async reset(): Promise<void> {
      await scene.azure.close()
      scene.azure = createAzure(server.urls)
      server.reset()
    },
    submit: async (task = jobOf(), located = at) => (await scene.azure.stage(located, task, signal))(signal),
    async close(): Promise<void> {
      await scene.azure.close()
      await server.close()
    }
  }
  return scene
}
