// Hostile: one team attacks a stack in every way of the table, one after the other, while an ordinary team works next to it.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import type { Connection } from '../../db/client.js'
import { eventually } from '../support/eventually.js'
import { connectForTest } from '../support/stack/database.js'
import { type Account, createAccount } from './accounts.js'
import type { Attack } from './attack.js'
import { composeLimits } from './compose-limits.js'
import { type Figures, figuresOf, SLOWER_MAX, seconds } from './figures.js'
import { EVERY_MS, type Measured, type Neighbour, startNeighbour } from './neighbour.js'
import { type AttackReport, type AttackTimes, isOnlySlower, together, underAttack } from './one-attack.js'
import { type Memory, watchProcesses } from './processes.js'
import { type RunningStack, startStack, startTarpit, stopStack, type Tarpit } from './surroundings.js'

export interface HostileOptions extends AttackTimes {
  attacks: readonly Attack[]
  /** How long the neighbour is measured alone. */
  aloneMs: number
  /** A job of the neighbour that is no slower shows that the stack has recovered. Default: three times its time alone. */
  recoveredMs?: number
  /** How often an attack is measured at most where a time was over its limit. Default: 6. */
  runsWhereSlower?: number
  say: (line: string) => void
}

export interface HostileReport {
  alone: Figures
  alonePeaks: Memory
  limits: Memory
  attacks: AttackReport[]
  dataDir: string
}

/** An account can submit 10 jobs a minute and 100 a day. */
const ACCOUNTS_MIN = 12
const JOBS_PER_ACCOUNT = 80
/** For preparation and recovery of an attack. */
const BETWEEN_ATTACKS_MS = 20_000
const ATTACKER_KEYS = 6
/**
 * The 95th percentile of the some 30 jobs that an attack sees is the second slowest of them: chance can double it. Where one
 * job in fifty is over the limit, six measurements together are over it once in a thousand times, and three once in seventy.
 */
const RUNS_WHERE_SLOWER = 6
/** For attacks that are repeated. */
const SPARE = 1.5
const WARM_UP_JOBS = 4
/** For a job of the neighbour alone to begin or to end. */
const ALONE_PATIENCE_MS = 120_000

/** Stops everything that it started, even on failure; the data folder remains. */
export async function runHostile(options: HostileOptions): Promise<HostileReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'qjs-hostile-'))
  options.say(`data folder ${dataDir}`)
  const tarpit = await startTarpit()
  let running = await startStack(dataDir, tarpit, '0')
  const { base } = running
  const restart = async () => {
    await stopStack(running.stack)
    running = await startStack(dataDir, tarpit, new URL(base).port)
    return running
  }
  try {
    return await attackInTurn(options, running, restart, tarpit, dataDir)
  } finally {
    await stopStack(running.stack)
    await tarpit.close()
  }
}

async function attackInTurn(
  options: HostileOptions,
  first: RunningStack,
  restart: () => Promise<RunningStack>,
  tarpit: Tarpit,
  dataDir: string
): Promise<HostileReport> {
  const { attacks, aloneMs, runsWhereSlower = RUNS_WHERE_SLOWER, say } = options
  const { base } = first
  const limits = composeLimits()
  let watch = watchProcesses(first.stack, dataDir)
  let connection = openDatabase(dataDir)
  const { ordinary, attackers } = await createAccounts(base, connection, options)
  let neighbour = startNeighbour(base, ordinary)
  try {
    await untilMeasurable(neighbour)
    watch.reset()
    const alone = await measureAlone(neighbour, aloneMs)
    const alonePeaks = watch.peaks()
    const sayAlone = ({ direct }: Figures) =>
      say(`alone: p50 ${seconds(direct.p50Ms!)} s, p95 ${seconds(direct.p95Ms!)} s`)
    sayAlone(alone)
    const reports: AttackReport[] = []
    for (const [at, attack] of attacks.entries()) {
      const surroundings = { base, neighbour, watch, connection, limits, tarpit, dataDir }
      const scene = { ...surroundings, alone, recoveredMs: SLOWER_MAX * alone.direct.p95Ms!, ...options }
      let report = await underAttack(attack, attackers[at]!, scene)
      while (isOnlySlower(report) && report.runs < runsWhereSlower) {
        say(`${attack.name}: ${report.broken.join('; ')}, measured again`)
        const again = await createAttacker(base, connection, attack, attacks.length * report.runs + at)
        // The machine may be another than when the neighbour was alone: its times are compared with those right before.
        const aloneAgain = await measureAlone(neighbour, aloneMs)
        sayAlone(aloneAgain)
        report = together(report, await underAttack(attack, again, { ...scene, alone: aloneAgain }), limits)
      }
      reports.push(report)
      say(
        `${attack.name}: ${report.slowdown === null ? 'no jobs' : `${report.slowdown.toFixed(1)} times slower`}, ` +
          `${report.broken.length === 0 ? 'kept' : `BROKEN: ${report.broken.join('; ')}`}`
      )
      if (report.recoverySeconds !== null && report.died.length === 0) continue
      say('restarting the stack for the next attack')
      await neighbour.stop()
      watch.stop()
      await connection.close()
      const { stack } = await restart()
      watch = watchProcesses(stack, dataDir)
      connection = openDatabase(dataDir)
      neighbour = startNeighbour(base, ordinary)
      await untilMeasurable(neighbour)
    }
    return { alone, alonePeaks, limits, attacks: reports, dataDir }
  } finally {
    await neighbour.stop()
    watch.stop()
    await connection.close()
  }
}

async function createAccounts(
  base: string,
  connection: Connection,
  { attacks, aloneMs, attackMs, afterMs }: HostileOptions
) {
  const repeatedAlone = (SPARE - 1) * attacks.length * aloneMs
  const lasts = aloneMs + repeatedAlone + SPARE * attacks.length * (attackMs + afterMs + BETWEEN_ATTACKS_MS)
  const accounts = Math.max(ACCOUNTS_MIN, Math.ceil(lasts / EVERY_MS / JOBS_PER_ACCOUNT))
  const ordinary: Account[] = []
  for (let number = 0; number < accounts; number++)
    ordinary.push(
      await createAccount(base, connection, {
        email: `ordinary-${number}@example.org`,
        address: `192.0.2.${number + 1}`,
        keys: 1
      })
    )
  const attackers: Account[] = []
  for (const [at, attack] of attacks.entries()) attackers.push(await createAttacker(base, connection, attack, at))
  return { ordinary, attackers }
}

/** @param number of the account among those of all attacks. */
const createAttacker = (base: string, connection: Connection, { name, tier }: Attack, number: number) =>
  createAccount(base, connection, {
    email: `${name}-${number}@example.net`,
    address: `198.51.100.${number + 1}`,
    keys: ATTACKER_KEYS,
    ...(tier && { tier })
  })

/** The neighbour's figures of some time in which nobody attacks. @throws Error if a job of it fails. */
async function measureAlone({ jobs }: Neighbour, aloneMs: number): Promise<Figures> {
  const from = performance.now()
  await delay(aloneMs)
  const begun = (mode: Measured['mode']) => jobs.some((job) => job.mode === mode && job.beganAt >= from)
  // On a slow machine a short time can see no workflow.
  await eventually(() => begun('direct') && begun('temporal'), { timeoutMs: ALONE_PATIENCE_MS })
  const until = performance.now()
  const isOver = ({ beganAt, endedAt }: Measured) => endedAt !== null || beganAt < from || beganAt >= until
  // The last job of the period has its usual time to finish.
  await eventually(() => jobs.every(isOver), { timeoutMs: ALONE_PATIENCE_MS })
  const alone = figuresOf(jobs, from, until)
  if (alone.failures.length > 0)
    throw new Error(`the neighbour alone: ${alone.direct.jobs} jobs; ${alone.failures.join('; ')}`)
  return alone
}

/** The executor imports its frameworks after its start; the first jobs of each mode take longer than others. */
async function untilMeasurable(neighbour: Neighbour): Promise<void> {
  const finished = () => neighbour.jobs.filter(({ endedAt, failures }) => endedAt !== null && failures.length === 0)
  await eventually(() => finished().length >= WARM_UP_JOBS && finished().some(({ mode }) => mode === 'temporal'), {
    timeoutMs: 120_000,
    everyMs: 100,
    message: () => JSON.stringify(neighbour.jobs)
  })
}

const openDatabase = (dataDir: string): Connection => connectForTest(readStackFile(dataDir)!.database_url!, { max: 1 })
