// How long it takes to compile a circuit as wide as its device: with what the provider says about the device in the adapter's
// cache, and without.
import { randomUUID } from 'node:crypto'
import { readProviderUrls } from '../../domain/backends/quantum-providers.js'
import { createExecutorClient, type ExecutorClient } from '../../services/executor/client.js'
import type { ProviderAdapter } from '../../services/providers/adapter.js'
import { createProviders, type Providers } from '../../services/providers/providers.js'
import { EXECUTOR_TOKEN, type ExecutorAddress } from '../support/bench-stack.js'
import type { LoadedProvider, Scene } from './scene.js'

const ROUNDS = 20
const WARM_UP = 5
/** The widest device of each provider; one that is not here is not measured. */
const widest: Readonly<Record<string, { slug: string; target: string }>> = {
  'aws-braket': {
    slug: 'rigetti-cepheus-1',
    target: 'arn:aws:braket:us-west-1::device/qpu/rigetti/Cepheus-1-108Q'
  },
  'ibm-quantum': { slug: 'ibm-fez', target: 'ibm_fez' }
}

export interface PreparedTimes {
  slug: string
  qubits: number
  /** Milliseconds. */
  cached: number[]
  uncached: number[]
  /** Of that, the request to the provider. */
  described: number[]
}

export async function prepareTimes({ all }: Scene, executor: ExecutorAddress): Promise<PreparedTimes[]> {
  const client = createExecutorClient(executor.url, EXECUTOR_TOKEN)
  try {
    const measured: PreparedTimes[] = []
    for (const provider of all) {
      const device = widest[provider.name]
      if (device) measured.push(await measure(provider, device, client))
    }
    return measured
  } finally {
    await client.close()
  }
}

async function measure(
  { name, credentials, variables }: LoadedProvider,
  { slug, target }: { slug: string; target: string },
  executor: ExecutorClient
): Promise<PreparedTimes> {
  const { signal } = new AbortController()
  const open: Providers[] = []
  const adapter = (): ProviderAdapter => {
    const providers = createProviders(readProviderUrls(variables))
    open.push(providers)
    return [...providers.adapters.values()].find((one) => one.credentials === name)!
  }
  const times: PreparedTimes = { slug, qubits: 0, cached: [], uncached: [], described: [] }
  try {
    const kept = adapter()
    for (let round = -WARM_UP; round < ROUNDS; round++)
      for (const [kind, provider] of [
        ['cached', kept],
        ['uncached', adapter()]
      ] as const) {
        const began = performance.now()
        const facts = await provider.describe(credentials, { target, width: null }, signal)
        const described = performance.now() - began
        times.qubits = facts.target.num_qubits!
        const end = await executor.compile(
          {
            run_id: randomUUID(),
            source: { kind: 'circuit', format: 'qasm3', payload: chain(times.qubits) },
            backend: slug,
            max_qubits: times.qubits,
            params: { shots: 100 },
            target: facts.target,
            limits: { wall_seconds: 60 },
            keys: { team: 'bench' }
          },
          signal
        )
        if (end.kind !== 'completed') throw new Error(`${slug} could not be compiled for: ${JSON.stringify(end)}`)
        if (round < 0) continue
        times[kind].push(performance.now() - began)
        if (kind === 'uncached') times.described.push(described)
      }
    return times
  } finally {
    for (const providers of open) await providers.close()
  }
}

/** Entangles all qubits of a device, each with the next. */
const chain = (qubits: number): string =>
  [
    'OPENQASM 3.0;\ninclude "stdgates.inc";',
    `qubit[${qubits}] q;\nbit[${qubits}] c;\nh q[0];`,
    ...Array.from({ length: qubits - 1 }, (_, at) => `cx q[${at}], q[${at + 1}];`),
    'c = measure q;\n'
  ].join('\n')
