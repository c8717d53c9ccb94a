// A gate to one executor, without a pool that asks how it is: every look would find it well.
import { EXECUTOR_PROTOCOL, type ExecutorHealth } from '../../../domain/backends/executor-health.js'
import { createExecutorClient, type ExecutorClient } from '../../../services/executor/client.js'
import { createEndpoints } from '../../../services/executor/endpoints.js'
import { createExecutorGate } from '../../../services/executor/gate.js'

const engines = ['statevector', 'density_matrix', 'mps', 'noisy'].map((name) => ({ name, version: '1' }))

/** What an executor reports that is well. */
export const wellHealth = (id: string, slots: number, of: Partial<ExecutorHealth> = {}): ExecutorHealth => ({
  status: 'ok',
  protocol: EXECUTOR_PROTOCOL,
  instance_id: id,
  sandbox: { level: 'L3', problem: '', warning: '' },
  slots: { total: slots, running: 0 },
  engines,
  ...of
})

export const quietLog = { info() {}, warn() {}, error() {} }

/** Endpoints of one executor. */
export function endpointsTo(executor: ExecutorClient, permits = 1) {
  const endpoints = createEndpoints(quietLog)
  endpoints.setAddresses(['http://one'], () => executor)
  const report = () => endpoints.reported(endpoints.list()[0]!, wellHealth('one', permits))
  report()
  endpoints.onDoubt(report)
  return endpoints
}

export const gateTo = (executor: ExecutorClient, permits = 1) => createExecutorGate(endpointsTo(executor, permits))

/** A gate whose calls reach no executor, and find every slot free. */
export function gateToNobody(permits = 1) {
  const executor: ExecutorClient = {
    ...createExecutorClient('http://127.0.0.1:1', 'a-token'),
    reserve: async () => ({ kind: 'reserved', executor, release() {} })
  }
  return gateTo(executor, permits)
}
