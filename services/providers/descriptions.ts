// Which devices this worker is asking providers about. A provider that does not answer is asked by one job of a team at a time:
// the others come back later, and hold no slot until then.
import { type DeviceFacts, finalFaults, ProviderFault } from './adapter.js'
import { TimedCache } from './timed-cache.js'

/** The oldest is forgotten first. */
const FAULTS_MAX = 1_000

export interface Descriptions {
  /**
   * @param key names the device, and whose credentials it is asked about with.
   * @returns for how many milliseconds another caller has been asking the same, if one does.
   * @throws what `ask` throws. A ProviderFault that can pass is thrown to later callers too, for a short time.
   */
  get(key: string, ask: () => Promise<DeviceFacts>): Promise<DeviceFacts | { askedForMs: number }>
}

/** @param faultMs for how long nothing is asked after a fault. */
export function createDescriptions(faultMs: number): Descriptions {
  const askedSince = new Map<string, number>()
  const faults = new TimedCache<ProviderFault>(FAULTS_MAX, faultMs)
  return {
    async get(key, ask) {
      const since = askedSince.get(key)
      if (since !== undefined) return { askedForMs: performance.now() - since }
      const fault = faults.peek(key)
      if (fault) throw fault
      askedSince.set(key, performance.now())
      try {
        return await ask()
      } catch (error) {
        if (error instanceof ProviderFault && !finalFaults.has(error.kind)) faults.set(key, error)
        throw error
      } finally {
        askedSince.delete(key)
      }
    }
  }
}
