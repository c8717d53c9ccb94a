// Chaos: the whole stack as `npm start` runs it, a load of jobs in both modes and of capsules, and SIGKILL for one part after
// the other.
// Then calm, a deadline for every job to end, and the proof.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { createAccessCode, grantPlatformAdmin } from '../../db/accounts/accounts.js'
import { type Connection, connect } from '../../db/client.js'
import { eventually } from '../support/eventually.js'
import { QjobStart } from '../support/stack/qjob-start.js'
import { runCapsules } from './capsule-load.js'
import { createChance } from './chance.js'
import { type Answer, type ChaosClient, createClient, signUp } from './client.js'
import { type EmulatedIonq, emulatedIonq } from './ionq.js'
import type { Findings } from './job-proof.js'
import { type Kills, killedParts, killInRounds, untilCalm } from './killer.js'
import { type LoadResult, runLoad } from './load.js'
import { hardware, simulator } from './plan.js'
import { endsByMode, endsOfCapsules, openWork, prove } from './proof.js'

export interface ChaosOptions {
  seed: number
  /** How often every part is killed. */
  rounds: number
  /** Between two kills, on average. */
  everyMs: number
  jobsPerSecond: number
  /** For every job to be final once all parts are back. */
  settleMs: number
  /** Added to the stack's environment. */
  env?: Record<string, string>
  say: (line: string) => void
}

export interface ChaosReport {
  kills: Kills
  load: LoadResult
  ends: Awaited<ReturnType<typeof endsByMode>>
  capsules: Awaited<ReturnType<typeof endsOfCapsules>>
  findings: Findings
  /** From calm until the last job was final; `null` when the deadline passed first. */
  settledSeconds: number | null
  /** Of the stack; its logs are below it. Whoever asked for chaos clears it away with `removeDataDir`. */
  dataDir: string
}

/** The scarce team's daily limit in USD: some jobs, and then refusals. */
const SCARCE_DAILY_USD = 0.3
/** Stories of capsules begun for each job; each of them makes several jobs. */
const CAPSULE_SHARE = 0.1
const PLENTY = 'plenty@example.org'

/** Ends everything that it started, also when it fails; the data folder stays. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const chance = createChance(options.seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'qjs-chaos-'))
  options.say(`data folder ${dataDir}`)
  const command = [process.execPath, join(projectRoot, 'tools/qjob.mjs'), 'start', '--emulated-hardware']
  const stack = new QjobStart(dataDir, { LOG_LEVEL: 'info', ...options.env }, command)
  try {
    const base = /^ready: (\S+)/.exec(await stack.ready())?.[1]
    const databaseUrl = readStackFile(dataDir)?.database_url
    if (!base || !databaseUrl) throw new Error(`the stack did not start:\n${stack.stderr}`)
    const connection = connect(databaseUrl, { max: 2, statementTimeoutMs: 60_000 })
    try {
      const ionq = emulatedIonq(dataDir)
      const clients = await prepare(base, connection, ionq)
      const storm = new AbortController()
      const name = `chaos-${options.seed}`
      const load: LoadResult = { submissions: [], told: new Map(), oddities: [] }
      const { signal } = storm
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
          { clients, chance: createChance(options.seed + 1), name, perSecond: options.jobsPerSecond, signal },
          load
        )
      ])
      const kills = await killInRounds(stack, chance, options).finally(() => storm.abort())
      await untilCalm(stack, base)
      const calmAt = performance.now()
      options.say('calm; every job and every capsule has to come to its end now')
      const [told] = await loading
      const settledSeconds = await untilSettled(connection, options, calmAt)
      const facts = { name, paid: await ionq.tasks(), told, client: clients.plenty, dataDir }
      const findings = await prove(connection, load, facts)
      const ended = { ends: await endsByMode(connection), capsules: await endsOfCapsules(connection) }
      return { kills, load, ...ended, findings, settledSeconds, dataDir }
    } finally {
      await connection.close()
    }
  } finally {
    await endStack(stack)
  }
}

/** A simulator with a price, a team with enough budget and a provider's credentials, and one with hardly any budget. */
async function prepare(
  base: string,
  { db }: Connection,
  ionq: EmulatedIonq
): Promise<{ plenty: ChaosClient; scarce: ChaosClient }> {
  const code = await createAccessCode(db, { uses: 2 })
  const client = async (email: string) => {
    const cookie = await signUp(base, email, code)
    return createClient(base, () => cookie)
  }
  const plenty = await client(PLENTY)
  const scarce = await client('scarce@example.org')
  await grantPlatformAdmin(db, PLENTY)
  const must = async (answer: Promise<Answer>): Promise<Record<string, unknown>> => {
    const got = await answer
    if (got.kind === 'answer' && got.status < 300) return got.body
    throw new Error(`the stack could not be prepared: ${JSON.stringify(got)}`)
  }
  await must(plenty.call('PATCH', `/api/admin/backends/${simulator.slug}`, { pricing: simulator.pricing }))
  await must(plenty.call('PATCH', '/api/team/budget', { daily_usd: 1000 }))
  await must(scarce.call('PATCH', '/api/team/budget', { daily_usd: SCARCE_DAILY_USD }))
  const { teams } = (await must(plenty.call('GET', '/api/teams'))) as { teams: { id: string }[] }
  const credentials = { team_id: teams[0]!.id, provider: 'ionq', secrets: ionq.credentials }
  await must(plenty.call('POST', '/api/team/secrets', credentials))
  await ionq.slowDown()
  const available = async () => (await must(plenty.call('GET', `/api/backends/${hardware}`))).isAvailable === true
  await eventually(available, { timeoutMs: 60_000, everyMs: 250, message: () => `${hardware} is not available` })
  return { plenty, scarce }
}

/** @returns the seconds since it was calm. */
async function untilSettled(
  connection: Connection,
  { settleMs, say }: ChaosOptions,
  calmAt: number
): Promise<number | null> {
  let said = Number.POSITIVE_INFINITY
  const settled = async () => {
    const open = await openWork(connection)
    if (open < said) say(`        ${open} open`)
    said = Math.min(said, open)
    return open === 0
  }
  try {
    await eventually(settled, { timeoutMs: settleMs, everyMs: 1_000 })
  } catch {
    return null
  }
  return (performance.now() - calmAt) / 1000
}

async function endStack(stack: QjobStart): Promise<void> {
  const parts = killedParts
  try {
    stack.signal('SIGINT')
    await stack.until('the end of the stack', () => !parts.some((part) => part in stack.processes()), 60_000)
  } finally {
    await stack.end()
  }
}

/** What broke a promise, in all. */
export const countFindings = (findings: Findings): number =>
  Object.values(findings).reduce((total, list) => total + list.length, 0)
