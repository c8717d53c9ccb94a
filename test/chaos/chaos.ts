// Chaos: the whole stack as `npm start` runs it, a load of jobs in both modes, and SIGKILL for one part after the other.
// Then calm, a deadline for every job to end, and the proof.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { createAccessCode, grantPlatformAdmin } from '../../db/accounts.js'
import { type Connection, connect } from '../../db/client.js'
import { eventually } from '../support/eventually.js'
import { QjobStart } from '../support/qjob-start.js'
import { createChance } from './chance.js'
import { type Answer, type ChaosClient, createClient, signUp } from './client.js'
import { type EmulatedIonq, emulatedIonq } from './ionq.js'
import { type Kills, killedParts, killInRounds, untilCalm } from './killer.js'
import { type LoadResult, runLoad } from './load.js'
import { hardware, simulator } from './plan.js'
import { endsByMode, type Findings, openWork, prove } from './proof.js'

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
  findings: Findings
  /** From calm until the last job was final; `null` when the deadline passed first. */
  settledSeconds: number | null
  /** Of the stack; its logs are below it. Whoever asked for chaos clears it away with `removeDataDir`. */
  dataDir: string
}

/** The scarce team's daily limit in USD: some jobs, and then refusals. */
const SCARCE_DAILY_USD = 0.3

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
      const loading = runLoad({
        clients,
        chance: createChance(options.seed + 1),
        name,
        perSecond: options.jobsPerSecond,
        signal: storm.signal
      })
      const kills = await killInRounds(stack, chance, options).finally(() => storm.abort())
      await untilCalm(stack, base)
      const load = await loading
      options.say('calm; every job has to end now')
      const settledSeconds = await untilSettled(connection, options)
      const findings = await prove(connection, load, { name, paid: await ionq.tasks() })
      return { kills, load, ends: await endsByMode(connection), findings, settledSeconds, dataDir }
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
  const plenty = await client('plenty@example.org')
  const scarce = await client('scarce@example.org')
  await grantPlatformAdmin(db, 'plenty@example.org')
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

async function untilSettled(connection: Connection, { settleMs, say }: ChaosOptions): Promise<number | null> {
  const began = performance.now()
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
  return (performance.now() - began) / 1000
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
