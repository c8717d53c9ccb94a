// What goes wrong next to the kills: frozen sessions and processes, workflows that an operator terminates, rows that make
// their step throw, graphs with large values, and a content store that is away or loses what it has confirmed.
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection as TemporalConnection } from '@temporalio/client'
import pLimit from 'p-limit'
import type postgres from 'postgres'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import type { Connection } from '../../db/client.js'
import { workflowIdOf } from '../../domain/jobs/dispatch.js'
import { isRunning } from '../../tools/process-lock.mjs'
import type { S3Server } from '../support/content-store/s3-server.js'
import { connectForTest } from '../support/stack/database.js'
import type { QjobStart } from '../support/stack/qjob-start.js'
import type { Chance } from './chance.js'
import type { ChaosClient } from './client.js'
import { type LoadResult, type Submission, submissionOf, submit } from './load.js'
import { circuit, type PlannedJob, planLargeValues, planPaidJob, SHOTS, simulator } from './plan.js'
import { BOTH_SECONDS } from './store.js'

export const deedNames = [
  'a session holds a job row',
  'the api stands still',
  'an operator terminates a workflow',
  'a job with poisoned parameters',
  'a paid job with credentials that no key opens',
  'a graph with large values',
  'the content store stands still',
  'the content store is killed',
  'the content store loses a write'
] as const
export type DeedName = (typeof deedNames)[number]
const needsStore = (name: DeedName): boolean => name.startsWith('the content store')
/** How often each deed took place. */
export type Deeds = Partial<Record<DeedName, number>>

/** Until a poisoned job starts; its row is changed before. */
const POISON_BEFORE_MS = 10_000

export interface DeedOptions {
  stack: QjobStart
  dataDir: string
  connection: Connection
  /** `null`: all contents are in rows, and its deeds are left out. */
  store: S3Server | null
  /** `poisoned`: its team's credentials cannot be opened. */
  clients: { plenty: ChaosClient; poisoned: ChaosClient }
  paidBackends: readonly string[]
  chance: Chance
  /** The prefix of the name of every job. */
  name: string
  everyMs: number
  /** Longer than the statement timeout of the service. */
  frozenMs: number
  /** On abort, no deed begins, and those in progress finish. */
  signal: AbortSignal
  say: (line: string) => void
}

/** Does every deed once, in random order, and then any. @param load collects the jobs of the deeds. */
export async function doDeeds(options: DeedOptions, load: LoadResult): Promise<Deeds> {
  const { chance, signal, say } = options
  const names = deedNames.filter((name) => options.store || !needsStore(name))
  const done = Object.fromEntries(names.map((name) => [name, 0])) as Record<DeedName, number>
  const inProgress = new Set<Promise<void>>()
  const first = chance.shuffled(names)
  let begun = 0
  const begin = () => {
    const name = first[begun] ?? chance.pick(names)
    const own = `${options.name}-deed-${begun++}`
    say(`           ${name}`)
    const deed = deedOf[name]({ ...options, name: own }, load)
      .then((took) => {
        if (took) done[name] += 1
      })
      // The database or Temporal was killed at that moment.
      .catch((error: Error) => say(`           ${name}: ${error.message}`))
      .finally(() => inProgress.delete(deed))
    inProgress.add(deed)
  }
  while (!signal.aborted) {
    await delay(options.everyMs * chance.between(0.5, 1.5), undefined, { signal }).catch(() => {})
    if (!signal.aborted) begin()
  }
  while (begun < first.length) begin()
  await Promise.all(inProgress)
  return done
}

/** Whether the deed took place: some need a job in the right state. */
type Deed = (options: DeedOptions, load: LoadResult) => Promise<boolean>

const deedOf: Readonly<Record<DeedName, Deed>> = {
  'a session holds a job row': async ({ dataDir, frozenMs }) => {
    const session = connectForTest(readStackFile(dataDir)!.database_url!, { max: 1 })
    try {
      return await session.sql.begin(async (tx) => {
        const rows = await tx`
          select id from jobs where status in ('pending', 'running', 'cancelling') order by random() limit 1 for update`
        if (rows.length === 0) return false
        await delay(frozenMs)
        return true
      })
    } finally {
      await session.close()
    }
  },

  'the api stands still': async ({ stack, frozenMs }) => {
    const api = stack.processes().api
    if (!api || !isRunning(api)) return false
    process.kill(api.pid, 'SIGSTOP')
    await delay(frozenMs)
    if (isRunning(api)) process.kill(api.pid, 'SIGCONT')
    return true
  },

  'an operator terminates a workflow': async ({ connection: { sql }, dataDir, frozenMs }, load) => {
    const known = new Map(load.submissions.flatMap((job) => job.ids.map((id) => [id, job] as const)))
    const deadline = Date.now() + frozenMs
    while (Date.now() < deadline) {
      const rows = await sql<{ id: string; generation: number }[]>`
        select id, generation from jobs where durable and status = 'running' order by random() limit 50`
      const row = rows.find(({ id }) => known.has(id) && !known.get(id)!.mustComplete)
      if (row) {
        known.get(row.id)!.cancelRequested = true
        await terminate(dataDir, row.id, row.generation)
        return true
      }
      await delay(200)
    }
    return false
  },

  'a job with poisoned parameters': async ({ connection, chance, clients, name }, load) => {
    const mode = chance.pick(['direct', 'temporal'] as const)
    const { body, end } = circuit(chance)
    const plan: PlannedJob = {
      name,
      mode,
      body: {
        name,
        backend: simulator.slug,
        params: { shots: SHOTS },
        execution_mode: mode,
        not_before: new Date(Date.now() + POISON_BEFORE_MS).toISOString(),
        ...body
      },
      ends: [end],
      cancelAfterMs: null,
      key: `chaos ${name}`
    }
    const submission = await submitted(plan, clients.plenty, load)
    const rows = await connection.sql`
      update jobs set params = 'not JSON' where id = ${submission.ids[0] ?? null} and status = 'pending'
        and not_before > clock_timestamp() returning id`
    // The executor refuses them, or an earlier step does.
    if (rows.length > 0) submission.ends = ['internal_error', 'execution_error']
    return rows.length > 0
  },

  'a paid job with credentials that no key opens': async ({ chance, clients, paidBackends, name }, load) => {
    const mode = chance.pick(['direct', 'temporal'] as const)
    const plan = planPaidJob(chance, name, mode, chance.pick(paidBackends))
    const { ids } = await submitted({ ...plan, ends: ['provider_refused'] }, clients.poisoned, load)
    return ids.length > 0
  },

  'a graph with large values': async ({ chance, clients, name }, load) => {
    const plans = [true, false].map((fits) => planLargeValues(chance, `${name}-${fits}`, fits))
    const jobs = await Promise.all(plans.map((plan) => submitted(plan, clients.plenty, load)))
    return jobs.every(({ ids }) => ids.length > 0)
  },

  'the content store stands still': ({ store, frozenMs }) =>
    storeTurn(async () => {
      store!.signal('SIGSTOP')
      await delay(frozenMs)
      store!.signal('SIGCONT')
      return true
    }),

  'the content store is killed': ({ store, frozenMs, chance }) =>
    storeTurn(async () => {
      await store!.kill()
      await delay(chance.between(0, frozenMs))
      await store!.start()
      return true
    }),

  'the content store loses a write': ({ store, connection: { sql }, frozenMs }) =>
    storeTurn(async () => {
      const deadline = Date.now() + frozenMs
      while (Date.now() < deadline) {
        if (await sql.begin((tx) => loseOne(tx, store!))) return true
        await delay(200)
      }
      return false
    })
}

/** Early enough that no worker has read the object again. @returns `false` if there is none. */
async function loseOne(tx: postgres.TransactionSql, store: S3Server): Promise<boolean> {
  const [row] = await tx<{ key: string }[]>`
    select object_key as key from artifacts where content is not null
      and object_at > clock_timestamp() - ${BOTH_SECONDS / 2}::float8 * interval '1 second'
    limit 1 for update skip locked`
  if (!row) return false
  await store.lose(row.key)
  // When that took long, a worker may have read it before: the row keeps its content, as where a worker finds it lost.
  await tx`
    with freed as (update artifacts set object_key = null, object_at = null where object_key = ${row.key}
      and object_at <= clock_timestamp() - ${BOTH_SECONDS}::float8 * interval '1 second' returning 1)
    insert into unnamed_objects (key) select ${row.key}::text from freed`
  return true
}

/** One at a time: a store that stands still would lose what it was told to much later, when no row has it any more. */
const storeTurn = pLimit(1)

async function submitted(plan: PlannedJob, client: ChaosClient, load: LoadResult): Promise<Submission> {
  const submission = submissionOf(plan, client)
  await submit(submission, load)
  return submission
}

async function terminate(dataDir: string, jobId: string, generation: number): Promise<void> {
  const connection = await TemporalConnection.connect({ address: readStackFile(dataDir)!.temporal_address! })
  try {
    const workflow = new Client({ connection }).workflow.getHandle(workflowIdOf(jobId, generation))
    await workflow.terminate('an operator said so')
  } finally {
    await connection.close()
  }
}

/** Breaks the stored credentials of a team as if the key that sealed them were lost. */
export async function poisonCredentials({ sql }: Connection, teamId: string): Promise<void> {
  const rows = await sql`
    update team_secrets set wrapped_key = set_byte(wrapped_key, 0, 255 - get_byte(wrapped_key, 0)) where team_id = ${teamId} returning id`
  if (rows.length === 0) throw new Error(`team ${teamId} has no credentials to break`)
}
