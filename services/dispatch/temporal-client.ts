// The connection to Temporal of the api and of a worker's relay and sweeps.
import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client'
import type { TemporalSecurity } from './temporal-security.js'

/**
 * Connects at the first call, so that a process starts while the server is away. The library's own retries are off: every
 * caller has a deadline and tries again later, and a retry that outlives its caller fails on a closed channel, as an
 * unhandled rejection.
 * @param workflow interceptors for the starts of workflows, for traces.
 */
export function createTemporalClient(
  target: { address: string } & TemporalSecurity,
  namespace: string,
  workflow: WorkflowClientInterceptor[] = []
): { client: Client; connection: Connection; close(): Promise<void> } {
  const connection = Connection.lazy({ ...target, interceptors: [] })
  const client = new Client({ connection, namespace, interceptors: { workflow } })
  return { client, connection, close: () => connection.close() }
}
