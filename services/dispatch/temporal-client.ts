// The connection to Temporal of the api and of a worker's relay and sweeps.
import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client'

/**
 * Connects at the first call, so that a process boots while the server is away. Without the library's own retries: every
 * caller here has a deadline and tries again later by itself, and a retry that outlives its caller fails on a closed
 * channel, where nobody can catch it.
 * @param workflow interceptors of the starts of workflows, for traces.
 */
export function createTemporalClient(
  address: string,
  namespace: string,
  workflow: WorkflowClientInterceptor[] = []
): { client: Client; close(): Promise<void> } {
  const connection = Connection.lazy({ address, interceptors: [] })
  return { client: new Client({ connection, namespace, interceptors: { workflow } }), close: () => connection.close() }
}
