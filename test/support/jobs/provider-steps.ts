// What tests of the steps at a provider share: an adapter whose calls each test sets, a compiled program, and the
// dependencies of a step.
import { defaultProviderTimes, type ProviderDeps } from '../../../activities/provider/step.js'
import type { Db } from '../../../db/client.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import { compiledFileOf, storeFiles } from '../../../db/provider-jobs/provider-runs.js'
import type { ExecutorClient } from '../../../services/executor/client.js'
import type { KeyRing } from '../../../services/keys/key-ring.js'
import type { ProviderAdapter, ProviderJobView } from '../../../services/providers/adapter.js'
import { createDescriptions } from '../../../services/providers/descriptions.js'
import { gateTo } from './gate-to.js'

/** What a provider states about a job that ended well, without cost or usage. */
export const completedView: ProviderJobView = {
  status: 'completed',
  raw: 'Completed',
  queuePosition: null,
  predictedWaitSeconds: null,
  cost: null,
  failure: null
}

/** An adapter under the name of IonQ, which rejects every call that a test does not set. */
export function adapterWith(calls: Partial<ProviderAdapter>): ProviderAdapter {
  const unused = () => Promise.reject(new Error('this call is not part of the test'))
  return {
    name: 'IonQ',
    credentials: 'ionq',
    submitsOnce: false,
    devicesArePublic: true,
    billsSeconds: false,
    rates: null,
    verify: unused,
    place: unused,
    describe: unused,
    stage: unused,
    find: unused,
    look: unused,
    counts: unused,
    cancel: unused,
    backends: unused,
    ...calls
  }
}

const compiled = {
  program: '{"qubits":1,"circuit":[{"gate":"x","target":0}]}',
  media_type: 'application/json',
  qubits: 1,
  readout: { kind: 'qubits', bits: [0] },
  qasm: null,
  circuit_info: { registers: [{ name: 'c', size: 1 }] },
  warnings: []
}

/** Stores a program of one qubit, as the step that compiles it does. */
export const storeCompiled = (db: Db, jobId: string, fence: { generation: number }, ref = plainRef(jobId)) => {
  const content = Buffer.from(JSON.stringify(compiled))
  return storeFiles(db, jobId, fence, [{ name: compiledFileOf(ref), mediaType: 'application/json', content }])
}

/** The dependencies of a step that logs and announces nothing. */
export const providerDeps = ({
  executor,
  ...own
}: {
  db: Db
  executor: ExecutorClient
  keyRing: KeyRing
  providers: ProviderDeps['providers']
}) => ({
  gate: gateTo(executor),
  emulated: false,
  rates: { take: async (): Promise<number | null> => null },
  descriptions: createDescriptions(defaultProviderTimes.retryMs),
  teamLooks: async () => 0,
  announce: () => {},
  providerTimes: defaultProviderTimes,
  log: { warn: () => {}, error: () => {} },
  countFault: () => {},
  countRepeatedStep: () => {},
  ...own
})
