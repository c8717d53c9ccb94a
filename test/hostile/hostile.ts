// Hostile: one team attacks a stack in every way of the table, one after the other, while an ordinary team works next to it.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import { type Connection, connect } from '../../db/client.js'
import { emulatedIonq } from '../chaos/ionq.js'
import { eventually } from '../support/eventually.js'
import { type Account, createAccount } from './accounts.js'
import type { Attack } from './attack.js'
import type { AttackResult } from './attacker.js'
import { startAttacker } from './attacker-process.js'
import { fieldsOf, send } from './client.js'
import { composeLimits } from './compose-limits.js'
import {
  aboveLimits,
  type Figures,
  figuresOf,
  RECOVERY_SECONDS_MAX,
  recoverySeconds,
  SLOWER_MAX,
  seconds
} from './figures.js'
import { type Neighbour, startNeighbour } from './neighbour.js'
import { type Memory, type ProcessWatch, watchProcesses } from './processes.js'
import { type RunningStack, startStack, startTarpit, stopStack, type Tarpit } from './surroundings.js'

export interface HostileOptions {
  attacks: readonly Attack[]
  /** How long the neighbour is measured alone, and each attack lasts. */
  aloneMs: number
  attackMs: number
  /** How long the stack has to be as before; then it is restarted for the next attack. */
  recoveryMs: number
  say: (line: string) => void
}

export interface AttackReport extends Figures {
  name: string
  what: string
  /** The direct figures of the 10 s after the attack. */
  after: Figures
  result: AttackResult
  peaks: Memory
  /** Of the database, in MiB. */
  grownMib: number
  recoverySeconds: number | null
  ended: string[]
  /** The promises that it broke. */
  broken: string[]
}

export interface HostileReport {
  alone: Figures
  alonePeaks: Memory
  limits: Memory
  attacks: AttackReport[]
  dataDir: string
}

/** Each stays below 10 jobs a minute and 100 a day. */
const NEIGHBOUR_ACCOUNTS = 20
const ATTACKER_KEYS = 6
const PREPARE_LIMIT_MS = 150_000
/** The neighbour's jobs that are measured right after an attack begin within this time. */
const AFTER_MS = RECOVERY_SECONDS_MAX * 1000
const WARM_UP_JOBS = 4

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
  { attacks, aloneMs, attackMs, recoveryMs, say }: HostileOptions,
  first: RunningStack,
  restart: () => Promise<RunningStack>,
  tarpit: Tarpit,
  dataDir: string
): Promise<HostileReport> {
  const { base } = first
  const limits = composeLimits()
  let watch = watchProcesses(first.stack)
  let connection = openDatabase(dataDir)
  const { ordinary, attackers } = await createAccounts(base, connection, attacks)
  let neighbour = startNeighbour(base, ordinary)
  try {
    await untilMeasurable(neighbour)
    watch.reset()
    const aloneFrom = performance.now()
    await delay(aloneMs)
    const alone = figuresOf(neighbour.jobs, aloneFrom, performance.now())
    const alonePeaks = watch.peaks()
    if (alone.failures.length > 0 || alone.direct.p95Ms === null)
      throw new Error(`the neighbour alone: ${alone.direct.jobs} jobs; ${alone.failures.join('; ')}`)
    say(`alone: p50 ${seconds(alone.direct.p50Ms!)} s, p95 ${seconds(alone.direct.p95Ms)} s`)
    const limitMs = SLOWER_MAX * alone.direct.p95Ms
    const reports: AttackReport[] = []
    for (const [at, attack] of attacks.entries()) {
      const scene = { base, neighbour, watch, connection, limitMs, attackMs, recoveryMs, limits, tarpit, dataDir }
      const report = await underAttack(attack, attackers[at]!, scene)
      reports.push(report)
      say(
        `${attack.name}: p95 ${report.direct.p95Ms === null ? 'none' : seconds(report.direct.p95Ms)} s, ` +
          `${report.broken.length === 0 ? 'kept' : `BROKEN: ${report.broken.join('; ')}`}`
      )
      if (report.recoverySeconds !== null && report.ended.length === 0) continue
      say('restarting the stack for the next attack')
      await neighbour.stop()
      watch.stop()
      await connection.close()
      const { stack } = await restart()
      watch = watchProcesses(stack)
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

interface Scene {
  base: string
  neighbour: Neighbour
  watch: ProcessWatch
  connection: Connection
  limitMs: number
  attackMs: number
  recoveryMs: number
  limits: Memory
  tarpit: Tarpit
  dataDir: string
}

async function underAttack(attack: Attack, account: Account, scene: Scene): Promise<AttackReport> {
  const { base, neighbour, watch, connection, limitMs, attackMs, recoveryMs, limits, tarpit, dataDir } = scene
  const surroundings = {
    tarpitUrl: `http://127.0.0.1:${tarpit.port}`,
    ionq: emulatedIonq(dataDir).credentials
  }
  const attacker = await startAttacker({ name: attack.name, base, account, surroundings }, PREPARE_LIMIT_MS)
  const sizeBefore = await databaseMib(connection)
  watch.reset()
  watch.ended()
  const from = performance.now()
  attacker.begin()
  await delay(attackMs)
  const to = performance.now()
  const stopped = attacker.stop()
  const recovered = async () => {
    const ready = await send({ base, method: 'GET', path: '/readyz', address: account.address, timeoutMs: 10_000 })
    return ready.status === 200 && allOk(fieldsOf(ready)) ? recoverySeconds(neighbour.jobs, to, limitMs) : null
  }
  const recovery = await eventually(async () => await recovered(), { timeoutMs: recoveryMs, everyMs: 250 }).catch(
    () => null
  )
  if (recovery === null) neighbour.giveUp()
  const result = await stopped
  // The jobs of these seconds are measured too.
  await delay(Math.max(0, to + AFTER_MS - performance.now()))
  const until = performance.now()
  const during = figuresOf(neighbour.jobs, from, to)
  const report = {
    name: attack.name,
    what: attack.what,
    ...during,
    after: figuresOf(neighbour.jobs, to, until),
    result,
    peaks: watch.peaks(),
    grownMib: (await databaseMib(connection)) - sizeBefore,
    recoverySeconds: recovery,
    ended: watch.ended()
  }
  return { ...report, broken: brokenPromises(report, limitMs, limits) }
}

function brokenPromises(report: Omit<AttackReport, 'broken'>, limitMs: number, limits: Memory): string[] {
  const { direct, failures, ended, peaks, result } = report
  const broken: string[] = []
  if (direct.p95Ms === null) broken.push('the neighbour began no job')
  else if (direct.p95Ms > limitMs) broken.push(`p95 ${seconds(direct.p95Ms)} s, above ${seconds(limitMs)} s`)
  if (failures.length > 0) broken.push(`failed: ${failures.join(' | ')}`)
  if (ended.length > 0) broken.push(`ended: ${ended.join(', ')}`)
  broken.push(...aboveLimits(peaks, limits))
  if (report.recoverySeconds === null) broken.push('not as before without a restart')
  else if (report.recoverySeconds > RECOVERY_SECONDS_MAX)
    broken.push(`as before only after ${report.recoverySeconds.toFixed(1)} s`)
  if (result.error !== null) broken.push(`the attack failed: ${result.error}`)
  return broken
}

const allOk = (fields: Record<string, unknown>): boolean =>
  Object.values((fields.parts ?? {}) as Record<string, { state: string }>).every(({ state }) => state === 'ok')

async function createAccounts(base: string, connection: Connection, attacks: readonly Attack[]) {
  const ordinary: Account[] = []
  for (let number = 0; number < NEIGHBOUR_ACCOUNTS; number++)
    ordinary.push(
      await createAccount(base, connection, {
        email: `ordinary-${number}@example.org`,
        address: `192.0.2.${number + 1}`,
        keys: 1
      })
    )
  const attackers: Account[] = []
  for (const [at, { name, tier }] of attacks.entries())
    attackers.push(
      await createAccount(base, connection, {
        email: `${name}@example.net`,
        address: `198.51.100.${at + 1}`,
        keys: ATTACKER_KEYS,
        ...(tier && { tier })
      })
    )
  return { ordinary, attackers }
}

/** The executor imports its frameworks after its start; the first jobs of each mode take longer than others. */
async function untilMeasurable(neighbour: Neighbour): Promise<void> {
  const ended = () => neighbour.jobs.filter(({ endedAt, failures }) => endedAt !== null && failures.length === 0)
  await eventually(() => ended().length >= WARM_UP_JOBS && ended().some(({ mode }) => mode === 'temporal'), {
    timeoutMs: 120_000,
    everyMs: 100,
    message: () => JSON.stringify(neighbour.jobs)
  })
}

const openDatabase = (dataDir: string): Connection =>
  connect(readStackFile(dataDir)!.database_url!, { max: 1, statementTimeoutMs: 60_000 })

async function databaseMib({ sql }: Connection): Promise<number> {
  const [row] = await sql<{ bytes: string }[]>`select pg_database_size(current_database())::text as bytes`
  return Number(row!.bytes) / 1024 / 1024
}
