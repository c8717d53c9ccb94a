// Chaos: runs the whole stack as `npm start` does, under a load of jobs in both modes and of capsules, and kills one part
// after another with SIGKILL. Then it waits until every job is final, within a deadline, and checks the invariants.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { createAccessCode, grantPlatformAdmin } from '../../db/accounts/accounts.js'
import type { Connection } from '../../db/client.js'
import { readS3Settings } from '../../services/content-store/s3-settings.js'
import { createS3Store } from '../../services/content-store/s3-store.js'
import { s3Program, startS3Server } from '../support/content-store/s3-server.js'
import { eventually } from '../support/eventually.js'
import { connectForTest } from '../support/stack/database.js'
import { QjobStart } from '../support/stack/qjob-start.js'
import { stopWithProcess } from '../support/stack/stop-with-process.js'
import { runCapsules } from './capsule-load.js'
import { createChance } from './chance.js'
import { type ApiResponse, type ChaosClient, createClient, signUp } from './client.js'
import { movedContents } from './content-proof.js'
import { type Deeds, doDeeds, poisonCredentials } from './deeds.js'
import type { Findings } from './job-proof.js'
import { type Kills, killedParts, killInRounds, untilRecovered } from './killer.js'
import { type LoadResult, runLoad } from './load.js'
import { simulator } from './plan.js'
import { endsByMode, endsOfCapsules, openWork, prove } from './proof.js'
import { type ProviderOfStack, providersOfStack } from './providers.js'
import { storeEnvironment } from './store.js'

export interface ChaosOptions {
  seed: number
  /** How many times every part is killed. */
  rounds: number
  /** The average time between two kills. */
  everyMs: number
  jobsPerSecond: number
  /** The average time between two deeds. */
  deedEveryMs: number
  /** How long a session or the api stands still. */
  frozenMs: number
  /** The deadline for every job to be final after all parts have recovered. */
  settleMs: number
  /** Whether contents move to a content store, which has its own deeds. */
  contentStore: boolean
  /** Added to the stack's environment. */
  env?: Record<string, string>
  say: (line: string) => void
}

export interface ChaosReport {
  kills: Kills
  deeds: Deeds
  load: LoadResult
  ends: Awaited<ReturnType<typeof endsByMode>>
  capsules: Awaited<ReturnType<typeof endsOfCapsules>>
  findings: Findings
  /** How many contents were in the store alone in the end. */
  moved: number
  /** From the recovery until the last job was final; `null` if the deadline passed first. */
  settledSeconds: number | null
  /** The stack's data folder with its logs. The caller deletes it with `removeDataDir`. */
  dataDir: string
}

/** The scarce team's daily limit in USD: enough for some jobs, then refusals follow. */
const SCARCE_DAILY_USD = 0.3
/** Capsule scenarios per job; each of them runs several jobs. */
const CAPSULE_SHARE = 0.1
const PLENTY = 'plenty@example.org'

/** Stops everything that it started, even on failure; the data folder remains. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const chance = createChance(options.seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'qjs-chaos-'))
  options.say(`data folder ${dataDir}`)
  const command = [process.execPath, join(projectRoot, 'tools/qjob.mjs'), 'start', '--emulated-hardware']
  if (options.contentStore && !s3Program) throw new Error('there is no S3 server: install versitygw, or Go to build it')
  const store = options.contentStore ? await startS3Server('chaos') : null
  const env = { ...options.env, ...(store && storeEnvironment(store)) }
  const stack = new QjobStart(dataDir, { LOG_LEVEL: 'info', PROVIDER_RATE_SCALE: '0', ...env }, command)
  stopWithProcess(stack)
  try {
    const base = /^ready: (\S+)/.exec(await stack.ready())?.[1]
    const databaseUrl = readStackFile(dataDir)?.database_url
    if (!base || !databaseUrl) throw new Error(`the stack did not start:\n${stack.stderr}`)
    const contentStore = store && createS3Store(readS3Settings(storeEnvironment(store))!)
    const connection = connectForTest(databaseUrl, { max: 2, contentStore })
    try {
      const providers = providersOfStack(dataDir)
      const paidBackends = providers.map(({ backend }) => backend)
      const clients = await prepare(base, connection, providers)
      const killing = new AbortController()
      const name = `chaos-${options.seed}`
      const load: LoadResult = { submissions: [], reported: new Map(), unexpectedResponses: [] }
      const { signal } = killing
      const { deedEveryMs: everyMs, frozenMs, say } = options
      const deeds = doDeeds(
        {
          stack,
          dataDir,
          connection,
          clients,
          paidBackends,
          store,
          chance: createChance(options.seed + 3),
          name,
          everyMs,
          frozenMs,
          signal,
          say
        },
        load
      )
      const loading = Promise.all([
        runCapsules(
          {
            client: clients.plenty,
            chance: createChance(options.seed + 2),
            name,
            perSecond: options.jobsPerSecond * CAPSULE_SHARE,
            alertTo: PLENTY,
            signal
          },
          load
        ),
        runLoad(
          {
            clients,
            paidBackends,
            chance: createChance(options.seed + 1),
            name,
            perSecond: options.jobsPerSecond,
            signal
          },
          load
        )
      ])
      const kills = await killInRounds(stack, chance, options).finally(() => killing.abort())
      const done = await deeds
      await untilRecovered(stack, base)
      const recoveredAt = performance.now()
      options.say('all parts are back; waiting until every job and capsule is final')
      const [tracked] = await loading
      const settledSeconds = await untilSettled(connection, options, recoveredAt)
      const paid = (await Promise.all(providers.map((provider) => provider.tasks()))).flat()
      const facts = { name, paid, paidBackends, store, tracked, client: clients.plenty, dataDir }
      const findings = await prove(connection, load, facts)
      const ended = {
        ends: await endsByMode(connection),
        capsules: await endsOfCapsules(connection),
        moved: await movedContents(connection)
      }
      return { kills, deeds: done, load, ...ended, findings, settledSeconds, dataDir }
    } finally {
      await connection.close()
    }
  } finally {
    await stopStack(stack)
    await store?.close()
  }
}

/**
 * Sets a simulator's price, and creates a team with budget and credentials of all providers, one with hardly any budget, and
 * one whose credentials no key opens.
 */
async function prepare(
  base: string,
  connection: Connection,
  providers: readonly ProviderOfStack[]
): Promise<{ plenty: ChaosClient; scarce: ChaosClient; poisoned: ChaosClient }> {
  const { db } = connection
  const code = await createAccessCode(db, { uses: 3 })
  const client = async (email: string) => {
    const cookie = await signUp(base, email, code)
    return createClient(base, () => cookie)
  }
  const plenty = await client(PLENTY)
  const scarce = await client('scarce@example.org')
  const poisoned = await client('poisoned@example.org')
  await grantPlatformAdmin(db, PLENTY)
  const must = async (response: Promise<ApiResponse>): Promise<Record<string, unknown>> => {
    const got = await response
    if (got.kind === 'response' && got.status < 300) return got.body
    throw new Error(`the stack could not be prepared: ${JSON.stringify(got)}`)
  }
  await must(plenty.call('PATCH', `/api/admin/backends/${simulator.slug}`, { pricing: simulator.pricing }))
  await must(scarce.call('PATCH', '/api/team/budget', { daily_usd: SCARCE_DAILY_USD }))
  const storeCredentials = async (owner: ChaosClient): Promise<string> => {
    await must(owner.call('PATCH', '/api/team/budget', { daily_usd: 1000 }))
    const { teams } = (await must(owner.call('GET', '/api/teams'))) as { teams: { id: string }[] }
    const team_id = teams[0]!.id
    for (const { name: provider, credentials: secrets } of providers)
      await must(owner.call('POST', '/api/team/secrets', { team_id, provider, secrets }))
    return team_id
  }
  await storeCredentials(plenty)
  await poisonCredentials(connection, await storeCredentials(poisoned))
  for (const { backend, slowDown } of providers) {
    await slowDown()
    const available = async () => (await must(plenty.call('GET', `/api/backends/${backend}`))).isAvailable === true
    await eventually(available, { timeoutMs: 180_000, everyMs: 250, message: () => `${backend} is not available` })
  }
  return { plenty, scarce, poisoned }
}

/** @returns the seconds since the recovery. */
async function untilSettled(
  connection: Connection,
  { settleMs, say }: ChaosOptions,
  recoveredAt: number
): Promise<number | null> {
  let lowest = Number.POSITIVE_INFINITY
  const settled = async () => {
    const open = await openWork(connection)
    if (open < lowest) say(`        ${open} open`)
    lowest = Math.min(lowest, open)
    return open === 0
  }
  try {
    await eventually(settled, { timeoutMs: settleMs, everyMs: 1_000 })
  } catch {
    return null
  }
  return (performance.now() - recoveredAt) / 1000
}

async function stopStack(stack: QjobStart): Promise<void> {
  const parts = killedParts
  try {
    stack.signal('SIGINT')
    await stack.until('the stop of the stack', () => !parts.some((part) => part in stack.processes()), 240_000)
  } finally {
    await stack.end()
  }
}

/** The number of all violations. */
export const countFindings = (findings: Findings): number =>
  Object.values(findings).reduce((total, list) => total + list.length, 0)
