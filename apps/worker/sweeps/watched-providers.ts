// Wraps the providers so that every call is measured and, with tracing, gets a span.
import { type ProviderAdapter, ProviderFault } from '../../../services/providers/adapter.js'
import type { Tracing } from '../../../services/telemetry/tracing.js'
import type { WorkerMetrics } from '../metrics.js'

export function watchProviders(
  adapters: ReadonlyMap<string, ProviderAdapter>,
  record: WorkerMetrics['recordProviderCall'],
  tracing: Tracing | null
): ReadonlyMap<string, ProviderAdapter> {
  return new Map([...adapters].map(([name, adapter]) => [name, watched(adapter, record, tracing)]))
}

function watched(
  adapter: ProviderAdapter,
  record: WorkerMetrics['recordProviderCall'],
  tracing: Tracing | null
): ProviderAdapter {
  const { name } = adapter
  const watch =
    <Args extends unknown[], T>(operation: string, call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      const began = performance.now()
      const ended = (outcome: string) => record(name, operation, outcome, (performance.now() - began) / 1000)
      const request = () => call(...args)
      try {
        const response = await (tracing ? tracing.span(`${name} ${operation}`, {}, request) : request())
        ended('ok')
        return response
      } catch (error) {
        // Any other error means that the caller gave up.
        ended(error instanceof ProviderFault ? error.kind : 'aborted')
        throw error
      }
    }
  return {
    ...adapter,
    verify: watch('verify', adapter.verify),
    place: watch('place', adapter.place),
    describe: watch('describe', adapter.describe),
    stage: async (...args) => watch('submit', await watch('stage', adapter.stage)(...args)),
    find: watch('find', adapter.find),
    look: watch('look', adapter.look),
    counts: watch('counts', adapter.counts),
    cancel: watch('cancel', adapter.cancel),
    backends: watch('backends', adapter.backends)
  }
}
