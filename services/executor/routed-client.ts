// Calls to several executors for users who wait: each goes to the one that has the least to do, and to the next one if that
// refuses it. The executors share their places among such calls themselves.
import type { ExecutorNeeds } from '../../domain/backends/executor-choice.js'
import { type ExecutorHealth, mergedHealth } from '../../domain/backends/executor-health.js'
import type { ExecutorClient } from './client.js'
import type { Endpoint } from './endpoints.js'
import type { ExecutorPool } from './pool.js'
import { isUntaken, type Refusal } from './stream.js'

export type InteractiveExecutor = Pick<ExecutorClient, 'runInteractive' | 'convert' | 'analyse'> & {
  /** All executors as one. Rejects when none responds. */
  health(): Promise<ExecutorHealth>
}

export function createRoutedExecutor({ endpoints, look }: ExecutorPool): InteractiveExecutor {
  async function routed<End extends { kind: string }>(
    needs: ExecutorNeeds,
    call: (executor: ExecutorClient) => Promise<End | Refusal>
  ): Promise<End | Refusal> {
    const refused = new Set<Endpoint>()
    let last: Refusal | null = null
    // What is known can be some seconds old, and a user waits.
    if (endpoints.fits(needs) === 'none') await look()
    while (true) {
      let place = endpoints.take(needs, refused, true)
      if (place === 'full' && !last) {
        await look()
        place = endpoints.take(needs, refused, true)
      }
      if (typeof place === 'string') return last ?? endpoints.absence(needs)
      const end = await call(place.endpoint.client).finally(place.leave)
      if (!isUntaken(end)) return end
      endpoints.refused(place.endpoint, end, needs)
      refused.add(place.endpoint)
      if (last?.kind !== 'busy') last = end
    }
  }

  return {
    runInteractive: (run, signal) => routed({ engine: run.engine }, (executor) => executor.runInteractive(run, signal)),
    convert: (source, signal) =>
      routed({}, (executor) => executor.convert(source, signal)) as ReturnType<ExecutorClient['convert']>,
    analyse: (script, signal) =>
      routed({}, (executor) => executor.analyse(script, signal)) as ReturnType<ExecutorClient['analyse']>,
    async health() {
      await look()
      const known = endpoints.list().flatMap(({ state, health }) => (health && state !== 'away' ? [health] : []))
      if (known.length === 0) throw new Error(endpoints.absence({}).message)
      return mergedHealth(known)
    }
  }
}

/** What is wrong with the executors, each by its address; `null` when nothing is. */
export function executorsProblem(all: readonly Endpoint[]): string | null {
  const problems = all.flatMap(({ address, problem, state }) =>
    problem && state !== 'twin' ? [all.length > 1 ? `${address}: ${problem}` : problem] : []
  )
  return problems.length > 0 ? problems.join('; ') : null
}

/** Why executors are not used until an operator has changed them, without an address; `null` when all speak our protocol. */
export function protocolRefusal(all: readonly Endpoint[]): string | null {
  const foreign = all.filter(({ state }) => state === 'foreign')
  return foreign.length > 0 ? `${foreign.length} of ${all.length} executors not used: ${foreign[0]!.problem}` : null
}
