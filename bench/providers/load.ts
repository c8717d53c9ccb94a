// The load of tasks that wait at their providers, over some seconds: requests to the providers, transactions of the database,
// events and processor time of Temporal, and the worker's memory.
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { quantumProviders } from '../../domain/backends/quantum-providers.js'
import type { ProviderRate } from '../../services/providers/adapter.js'
import { createProviders } from '../../services/providers/providers.js'
import { requestsTo } from '../../test/support/stack/provider-rows.js'
import type { BenchStack } from '../support/bench-stack.js'
import { cpuSecondsOf, memoryOf } from '../support/process-load.js'
import type { LoadedProvider, Scene } from './scene.js'

/** Short enough for the log of an emulator, which keeps the last 10,000 requests. */
const SECONDS = 20
/** The workflows whose histories are counted. */
const SAMPLE = 100

export interface ProviderLoad {
  name: string
  callsPerSecond: number
  looksPerSecond: number
  /** The provider's own limit; `null` where it names none. */
  rate: { submit: ProviderRate; look: ProviderRate } | null
  /** For each request above it, how many milliseconds too soon it came. */
  above: number[]
}

export interface Load {
  waiting: number
  providers: ProviderLoad[]
  transactionsPerSecond: number
  /** For all waiting jobs, by those of a sample. */
  eventsPerSecond: number
  /** Shares of a core. */
  temporalCores: number
  workerCores: number
  workerMib: number
}

export async function loadWhileWaiting(stack: BenchStack, scene: Scene): Promise<Load> {
  const { platform, worker, providers } = scene
  const ids = await platform.connection.sql<{ id: string }[]>`select id from jobs where status = 'running' order by id`
  const step = Math.ceil(ids.length / SAMPLE)
  const sample = ids.filter((_row, at) => at % step === 0).map(({ id }) => id)
  const before = await state()
  const from = Date.now()
  await delay(SECONDS * 1000)
  const until = Date.now()
  const after = await state()
  const seconds = (until - from) / 1000
  const rate = (of: (taken: typeof before) => number) => (of(after) - of(before)) / seconds
  return {
    waiting: ids.length,
    providers: await Promise.all(providers.map((provider) => loadOf(provider, from, until))),
    transactionsPerSecond: rate(({ transactions }) => transactions),
    eventsPerSecond: (rate(({ events }) => events) * ids.length) / sample.length,
    temporalCores: rate(({ temporal }) => temporal),
    workerCores: rate(({ own }) => own),
    workerMib: memoryOf(worker.pid)
  }

  async function state() {
    const [row] = await platform.connection.sql<{ transactions: string }[]>`
      select (xact_commit + xact_rollback)::text as transactions from pg_stat_database where datname = current_database()`
    return {
      transactions: Number(row!.transactions),
      events: await eventsOf(stack.temporalAddress, sample),
      temporal: cpuSecondsOf(stack.temporalPid),
      own: cpuSecondsOf(worker.pid)
    }
  }
}

async function loadOf(provider: LoadedProvider, from: number, until: number): Promise<ProviderLoad> {
  const [log, tasks] = await Promise.all([provider.requests(), provider.tasks()])
  const times = log.map((sent) => ({ ...sent, time: Date.parse(sent.at) }))
  const within = times.filter(({ time }) => time >= from && time < until)
  const perSecond = (requests: readonly unknown[]) => (requests.length * 1000) / (until - from)
  const rate = rateOf(provider.name)
  const submitted = tasks.map(({ submitted_at }) => Date.parse(submitted_at))
  const looked = requestsTo(times, provider.looking).map(({ at }) => Date.parse(at))
  return {
    name: provider.name,
    callsPerSecond: perSecond(within),
    looksPerSecond: perSecond(requestsTo(within, provider.looking)),
    rate,
    above: rate === null ? [] : [...above(submitted, rate.submit), ...above(looked, rate.look)]
  }
}

function rateOf(name: string): ProviderLoad['rate'] {
  const title = quantumProviders.find(({ credentials }) => credentials === name)!.name
  const providers = createProviders()
  const { rates } = providers.adapters.get(title)!
  void providers.close()
  return rates
}

/** Those that came while as many as the rate allows were in its window already. */
function above(times: readonly number[], { max, windowSeconds }: ProviderRate): number[] {
  const sorted = [...times].sort((one, other) => one - other)
  return sorted
    .map((time, at) => (at < max ? 0 : windowSeconds * 1000 - (time - sorted[at - max]!)))
    .filter((tooSoonMs) => tooSoonMs > 0)
}

async function eventsOf(address: string, jobs: readonly string[]): Promise<number> {
  const connection = await Connection.connect({ address })
  try {
    const { workflow } = new Client({ connection })
    const described = await Promise.all(jobs.map((id) => workflow.getHandle(`job-${id}`).describe()))
    return described.reduce((sum, { historyLength }) => sum + historyLength, 0)
  } finally {
    await connection.close()
  }
}
