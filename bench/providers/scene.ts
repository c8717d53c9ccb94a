// A platform whose providers are emulated in a process of their own, and a team with credentials of all of them.
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { type EmulatorsPart, emulatorVariables, startEmulatorsPart } from '../../apps/cli/stack/parts/emulators.js'
import type { NodeApp } from '../../apps/cli/stack/parts/node-app.js'
import type { FaultOrder } from '../../apps/emulators/faults.js'
import type { LedgerTask } from '../../apps/emulators/provider.js'
import type { LoggedRequest } from '../../apps/emulators/request-log.js'
import { changeTeamBudget } from '../../db/money/budget.js'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import { paidBackends } from '../../test/support/stack/provider-platform.js'
import { type Provider, providers } from '../../test/support/stack/provider-rows.js'
import { BELL } from '../bare/bare.js'
import type { BenchPlatform, BenchStack } from '../support/bench-stack.js'

const KEYS = `bench:${Buffer.from('a ring key of 32 bytes for bench').toString('base64')}`
/** Submissions at the same time. */
const CLIENTS = 10
const LIMIT_MS = 600_000
const LOOK_MS = 200
/** IBM starts five jobs of a user a minute: a thousand would take hours. */
const isLoaded = ({ name }: LoadedProvider): boolean => name !== 'ibm-quantum'
const BUDGET = { daily: 1_000_000_000_000n, monthly: 1_000_000_000_000n }

/** A provider under load, with the control of its emulator. */
export interface LoadedProvider extends Provider {
  backend: string
  credentials: Record<string, string>
  /** By the name of the variable. */
  variables: Record<string, string>
  tasks(): Promise<LedgerTask[]>
  requests(): Promise<LoggedRequest[]>
  timing(timing: { queue_ms: number; run_ms: number }): Promise<void>
  fault(order: FaultOrder): Promise<void>
}

export interface Scene {
  platform: BenchPlatform
  worker: NodeApp
  /** Those at which tasks wait. */
  providers: LoadedProvider[]
  /** Every provider, for its devices. */
  all: LoadedProvider[]
  /** Submits this many jobs to each of the providers; resolves when all are submitted. */
  submitToEach(count: number): Promise<void>
  /** Waits until the providers have accepted this many tasks in all. */
  untilAccepted(count: number): Promise<void>
  untilCompleted(count: number): Promise<void>
  close(): Promise<void>
}

export async function startScene(stack: BenchStack): Promise<Scene> {
  const emulators = await startEmulatorsPart({}, stack.spawn)
  const platform = await stack.platform('bench_providers', stack.executors.real, {
    ...(emulatorVariables(emulators.providers, {}) as Record<string, string>),
    SECRETS_KEYS: KEYS,
    TEAM_RUNNING_JOBS_MAX: '10000'
  })
  const worker = await platform.startWorker()
  const all = emulators.providers.map(loadedProvider)
  const loaded = all.filter(isLoaded)
  const teamId = await teamWithCredentials(platform, loaded)
  const count = async (condition: string): Promise<number> => {
    const [row] = await platform.connection.sql.unsafe<{ count: number }[]>(
      `select count(*)::int as count from provider_tasks t join jobs j on j.id = t.job_id where ${condition}`
    )
    return row!.count
  }
  return {
    platform,
    worker,
    providers: loaded,
    all,
    async submitToEach(jobs) {
      const backends = loaded.flatMap(({ backend }) => Array.from({ length: jobs }, () => backend))
      let next = 0
      const client = async () => {
        while (next < backends.length) {
          const body = { circuit: BELL_CIRCUIT, backend: backends[next++], params: { shots: 1 }, team_id: teamId }
          await ask(platform, 'POST', '/api/jobs/submit', body, 201)
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, client))
    },
    untilAccepted: (expected) => until(async () => (await count('t.accepted_at is not null')) >= expected),
    untilCompleted: (expected) => until(async () => (await count("j.status = 'completed'")) >= expected),
    async close() {
      await platform.close()
      await emulators.stop()
    }
  }
}

export const BELL_CIRCUIT = { format: 'qasm3', payload: BELL }

function loadedProvider({ provider, control_url, credentials, variables }: EmulatorsPart['providers'][number]) {
  const row = providers.find(({ name }) => name === provider)
  if (!row) throw new Error(`test/support/stack/provider-rows.ts has no row for ${provider}`)
  const read = async <T>(path: string): Promise<T> => (await request(`${control_url}${path}`)).body.json() as Promise<T>
  const change = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await request(`${control_url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.body.text()
    if (response.statusCode !== 200) throw new Error(`${provider}${path} returned ${response.statusCode}: ${text}`)
  }
  return {
    ...row,
    backend: paidBackends[row.name],
    credentials,
    variables,
    tasks: async () => (await read<{ tasks: LedgerTask[] }>('/tasks')).tasks,
    requests: async () => (await read<{ requests: LoggedRequest[] }>('/requests')).requests,
    timing: (timing: { queue_ms: number; run_ms: number }) => change('/timing', timing),
    fault: (order: FaultOrder) => change('/faults', order)
  }
}

async function teamWithCredentials(platform: BenchPlatform, loaded: readonly LoadedProvider[]): Promise<string> {
  const { id } = await ask<{ id: string }>(platform, 'POST', '/api/teams', { name: 'Hardware' }, 201)
  await changeTeamBudget(platform.connection.db, id, BUDGET, BUDGET)
  for (const { name, credentials, backend } of loaded) {
    await ask(platform, 'POST', '/api/team/secrets', { team_id: id, provider: name, secrets: credentials }, 201)
    await until(async () => {
      const { isAvailable } = await ask<{ isAvailable: boolean }>(
        platform,
        'GET',
        `/api/backends/${backend}`,
        null,
        200
      )
      return isAvailable
    })
  }
  return id
}

/** The milliseconds from the submission of a Bell pair on `local` to its result. */
export async function localBell(platform: BenchPlatform, execution_mode: string): Promise<number> {
  const began = performance.now()
  const body = { circuit: BELL_CIRCUIT, backend: 'local', params: { shots: 1024 }, execution_mode }
  const { job_id: id } = await ask<{ job_id: string }>(platform, 'POST', '/api/jobs/submit', body, 201)
  while (performance.now() - began < LIMIT_MS) {
    const path = `/api/jobs/${id}/status?wait=20`
    const { status } = await ask<{ status: JobStatus }>(platform, 'GET', path, null, 200)
    if (status === 'completed') return performance.now() - began
    if (isFinal(status)) throw new Error(`the Bell pair is ${status}`)
  }
  throw new Error(`the Bell pair is not completed after ${LIMIT_MS / 1000} s`)
}

async function ask<T>(
  { base, cookie }: BenchPlatform,
  method: 'GET' | 'POST',
  path: string,
  body: object | null,
  status: number
): Promise<T> {
  const response = await request(`${base}${path}`, {
    method,
    headers: { cookie, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body)
  })
  const text = await response.body.text()
  if (response.statusCode !== status) throw new Error(`${method} ${path} returned ${response.statusCode}: ${text}`)
  return JSON.parse(text) as T
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not so after ${LIMIT_MS / 1000} s`)
    await delay(LOOK_MS)
  }
}
