// A platform with emulated providers: real API, worker, executor, Temporal and database. The provider's ledger shows
// what was paid for.
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { eq, inArray, sql } from 'drizzle-orm'
import { type HeldDeps, settleHeldProviderJob } from '../../../activities/provider/held-money.js'
import { bookLateUsage, type UsageDeps } from '../../../activities/provider/late-usage.js'
import { defaultProviderTimes } from '../../../activities/provider/step.js'
import { emulatorVariables } from '../../../apps/cli/stack/parts/emulators.js'
import { type EmulatorOptions, type ProviderName, startEmulators } from '../../../apps/emulators/emulators.js'
import type { LedgerTask } from '../../../apps/emulators/provider.js'
import { changeTeamBudget } from '../../../db/money/budget.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { takePendingUsage } from '../../../db/provider-jobs/pending-usage.js'
import { takeHeldProviderJobs } from '../../../db/provider-jobs/provider-money.js'
import { backends } from '../../../db/tables/backends.js'
import { quantumProviders, readProviderUrls } from '../../../domain/backends/quantum-providers.js'
import { isFinal } from '../../../domain/jobs/job-status.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { createProviders } from '../../../services/providers/providers.js'
import { eventually } from '../eventually.js'
import { type JobRecord, type OwnParts, startPlatform } from './platform.js'

/** Short, so that no test waits for minutes until "not found" counts, and long for a request that is under way. */
export const LOOKUP_WINDOW_SECONDS = 8
/** For what a loaded machine takes its time. */
const PATIENCE_MS = 90_000

const SECRETS_KEYS = `test:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`

/** A quantum computer of each provider. */
export const paidBackends: Record<ProviderName, string> = {
  ionq: 'ionq-direct-forte-1',
  'aws-braket': 'ionq-forte-1',
  'ibm-quantum': 'ibm-fez',
  'azure-quantum': 'azure-quantinuum-h2-1'
}

export async function startProviderPlatform(
  file: string,
  {
    providers = ['ionq'],
    own = {},
    env = {},
    timing = {}
  }: {
    /** Those that the team has credentials for. */
    providers?: readonly ProviderName[]
    own?: OwnParts
    env?: Record<string, string>
    timing?: EmulatorOptions['timing']
  } = {}
) {
  // Tests submit more often than IBM allows.
  const emulators = await startEmulators({ timing, startsPerMinute: 1_000_000 })
  const ionq = emulators.provider('ionq')
  const platform = await startPlatform(file, own, {
    ...emulatorVariables(emulators.providers),
    PROVIDER_LOOKUP_WINDOW: String(LOOKUP_WINDOW_SECONDS),
    PROVIDER_CANCEL_DEADLINE: '60',
    PROVIDER_CALL_TIMEOUT: '5',
    PROVIDER_RETRY_SECONDS: '0.5',
    PROVIDER_RATE_SCALE: '0',
    SECRETS_KEYS,
    ...env
  })
  const team = (await (await platform.call('POST', '/api/teams', { name: 'Hardware' })).json()) as { id: string }
  await changeTeamBudget(platform.connection.db, team.id, { daily: 1_000_000_000n })
  const storeCredentials = async (provider: ProviderName = 'ionq', changes: Record<string, string> = {}) => {
    const secrets = { ...emulators.provider(provider).credentials, ...changes }
    const body = { team_id: team.id, provider, secrets }
    const stored = await platform.call('POST', '/api/team/secrets', body)
    if (stored.status !== 201) throw new Error(`secrets: ${stored.status} ${await stored.text()}`)
  }
  // One price for every quantum computer, so that a test need not know whose it is.
  await platform.connection.db
    .update(backends)
    .set({ taskFee: 300_000n, perShot: 10_000n, minimumCost: 300_000n })
    .where(inArray(backends.slug, Object.values(paidBackends)))
  for (const provider of providers) await storeCredentials(provider)
  for (const provider of providers)
    await eventually(
      async () => {
        const { isAvailable } = (await (
          await platform.call('GET', `/api/backends/${paidBackends[provider]}`)
        ).json()) as {
          isAvailable: boolean
        }
        return isAvailable || null
      },
      { timeoutMs: PATIENCE_MS }
    )

  const until: typeof platform.until = (id, holds, timeoutMs = PATIENCE_MS) => platform.until(id, holds, timeoutMs)
  const accepted: typeof platform.accepted = (id, count = 1) => until(id, (job) => job.attempts >= count)

  const paidTasksAt = (provider: ProviderName, count: number): Promise<LedgerTask[]> =>
    eventually(
      async () => {
        const tasks = emulators.provider(provider).control.tasks()
        return tasks.length >= count ? tasks : null
      },
      { timeoutMs: PATIENCE_MS, message: platform.logs }
    )

  /** A request to the control interface of an emulator, for what it alone offers; GET without a body. */
  async function steer<T>(name: ProviderName, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${emulators.provider(name).control_url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${name}${path}: ${response.status} ${text}`)
    return JSON.parse(text) as T
  }

  /** With what the sweeps of a worker get. */
  async function asWorker(act: (deps: HeldDeps & UsageDeps) => Promise<void>): Promise<void> {
    const variables = Object.assign({}, ...emulators.providers.map((provider) => provider.variables))
    const providers = createProviders(readProviderUrls(variables))
    try {
      await act({
        db: platform.connection.db,
        providers: providers.adapters,
        keyRing: readKeyRing(SECRETS_KEYS),
        log: { warn: () => {}, error: () => {} },
        announce: () => {},
        providerTimes: { ...defaultProviderTimes, lookUpWindowSeconds: LOOKUP_WINDOW_SECONDS }
      })
    } finally {
      await providers.close()
    }
  }

  /** A paid job of 100 shots: 1.30 USD. */
  const submitPaid = (body: Record<string, unknown> = {}): Promise<string> =>
    platform.submit({
      circuit: { format: 'qasm3', payload: bell },
      backend: paidBackends.ionq,
      params: { shots: 100 },
      team_id: team.id,
      ...body
    })

  /** A paid job in the queue of the provider for an emulated day. */
  async function waitingAt(name: ProviderName): Promise<string> {
    emulators.provider(name).control.timing({ queueMs: 86_400_000, runMs: 1_000 })
    const id = await submitPaid({ backend: paidBackends[name] })
    await accepted(id)
    return id
  }

  /** Waits until the record says in these words why the job waits; resolves with the whole message. */
  const queueMessage = (id: string, words: RegExp): Promise<string> =>
    eventually(
      async () => {
        const { message = '' } = ((await platform.job(id)).queue ?? {}) as { message?: string }
        return words.test(message) ? message : null
      },
      { timeoutMs: PATIENCE_MS, message: platform.logs }
    )

  return {
    ...platform,
    until,
    accepted,
    ended: (id: string, timeoutMs?: number): Promise<JobRecord> => until(id, (job) => isFinal(job.status), timeoutMs),
    ionq: ionq.control,
    provider: (name: ProviderName) => emulators.provider(name).control,
    credentialsOf: (name: ProviderName) => emulators.provider(name).credentials,
    steer,
    waitingAt,
    queueMessage,
    credentials: ionq.credentials,
    teamId: team.id,
    storeCredentials,

    submitPaid,
    submitAt: (provider: ProviderName, body: Record<string, unknown> = {}): Promise<string> =>
      submitPaid({ backend: paidBackends[provider], ...body }),

    /** Paid provider jobs, according to the provider. */
    paidTasks: (count: number): Promise<LedgerTask[]> => paidTasksAt('ionq', count),
    paidTasksAt,

    async budget() {
      const answer = await platform.call('GET', `/api/team/budget?team_id=${team.id}`)
      return (await answer.json()) as { day: { spent_usd: number; reserved_usd: number } }
    },

    /** What the team has spent and reserved on all days in USD, so that it can be compared across midnight. */
    async money(): Promise<{ spent: number; reserved: number }> {
      const [row] = await platform.connection.db.execute<{ spent: number; reserved: number }>(
        sql`select coalesce(sum(spent_micro), 0)::float8 / 1e6 as spent,
          coalesce(sum(reserved_micro), 0)::float8 / 1e6 as reserved
          from budget_counters where team_id = ${team.id} and period = 'day'`
      )
      return row!
    },

    mismatches: () => ledgerMismatches(platform.connection.db),

    /** Acts on a job's workflow, like an operator. */
    async workflow<T>(id: string, act: (handle: WorkflowHandle) => Promise<T>): Promise<T> {
      const connection = await Connection.connect({ address: platform.settings.TEMPORAL_ADDRESS! })
      try {
        return await act(new Client({ connection }).workflow.getHandle(`job-${id}`))
      } finally {
        await connection.close()
      }
    },

    /** Deletes the workflow, as when Temporal's database was lost. */
    async forgetWorkflow(id: string): Promise<void> {
      const connection = await Connection.connect({ address: platform.settings.TEMPORAL_ADDRESS! })
      await connection.workflowService.deleteWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: `job-${id}` }
      })
      await connection.close()
    },

    /** Runs the sweep of held money, as if all held provider jobs were due. That of the worker can take some of them. */
    askAfterHeld: () =>
      asWorker(async (deps) => {
        await deps.db.execute(sql`update provider_tasks set ask_at = now() where ask_at is not null`)
        for (const held of await takeHeldProviderJobs(deps.db, 10))
          await settleHeldProviderJob(deps, held, AbortSignal.timeout(PATIENCE_MS))
      }),

    /** Runs the sweep of late costs, as if all provider jobs without one were due. That of the worker can take some. */
    askForUsage: () =>
      asWorker(async (deps) => {
        await deps.db.execute(sql`update provider_tasks set usage_ask_at = now() where usage_ask_at is not null`)
        for (const pending of await takePendingUsage(deps.db, 10))
          await bookLateUsage(deps, pending, AbortSignal.timeout(PATIENCE_MS))
      }),

    /** For the next minutes, the worker does not read the states of the provider's machines, which hold jobs back. */
    async keepMachines(name: ProviderName): Promise<void> {
      await platform.connection.db
        .update(backends)
        .set({ queueUpdatedAt: sql`now()` })
        .where(eq(backends.provider, quantumProviders.find(({ credentials }) => credentials === name)!.name))
    },

    /** As if the time in which the provider has to confirm the cancellation of a job had passed. */
    async passCancelDeadline(id: string): Promise<void> {
      await platform.connection.db.execute(
        sql`update jobs set cancel_requested_at = cancel_requested_at - interval '1 hour' where id = ${id}`
      )
    },

    cancel: async (id: string): Promise<JobRecord> =>
      (await (await platform.call('POST', `/api/jobs/${id}/cancel`)).json()) as JobRecord,

    async close(): Promise<void> {
      await platform.close()
      await emulators.close()
    }
  }
}

export type ProviderPlatform = Awaited<ReturnType<typeof startProviderPlatform>>

export const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
