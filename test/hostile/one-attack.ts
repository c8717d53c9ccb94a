// One attack next to the neighbour: the measurement, and the promises that it broke.
import { setTimeout as delay } from 'node:timers/promises'
import { createAccessCode } from '../../db/accounts/accounts.js'
import type { Connection } from '../../db/client.js'
import { providersOfStack } from '../chaos/providers.js'
import { eventually } from '../support/eventually.js'
import type { Account } from './accounts.js'
import type { Attack } from './attack.js'
import type { AttackResult } from './attacker.js'
import { startAttacker } from './attacker-process.js'
import { fieldsOf, send } from './client.js'
import {
  aboveLimits,
  type Figures,
  failuresOf,
  figuresOf,
  RECOVERY_SECONDS_MAX,
  recoverySeconds,
  SLOWER_MAX,
  slowdownOf,
  timesAlone
} from './figures.js'
import type { Neighbour } from './neighbour.js'
import type { Memory, ProcessWatch } from './processes.js'
import type { Tarpit } from './surroundings.js'

const PREPARE_LIMIT_MS = 150_000

export interface AttackTimes {
  attackMs: number
  /** The neighbour is measured at least so long after the attack. */
  afterMs: number
  /** The time that the stack has to recover, before it is restarted for the next attack. */
  recoveryMs: number
}

export interface Scene extends AttackTimes {
  base: string
  neighbour: Neighbour
  watch: ProcessWatch
  connection: Connection
  /** The neighbour's figures alone. */
  alone: Figures
  /** A job that is no slower shows that the stack has recovered. */
  recoveredMs: number
  limits: Memory
  tarpit: Tarpit
  dataDir: string
}

export interface AttackReport extends Figures {
  name: string
  what: string
  /** Of each of the neighbour's jobs: its time in multiples of the time alone. */
  times: number[]
  /** How many times slower the neighbour's jobs were than alone; `null` = it began none. */
  slowdown: number | null
  /** How often it was measured. */
  runs: number
  /** The figures from the end of the attack on. */
  after: Figures
  result: AttackResult
  peaks: Memory
  /** Of the database, in MiB. */
  grownMib: number
  /** From the end of the attack; `null` = not within the time for it. Of several measurements, what half of them reach. */
  recoverySeconds: number | null
  /** Of each measurement. */
  recoveries: number[]
  /** The processes that died. */
  died: string[]
  /** The promises that it broke. */
  broken: string[]
}

export async function underAttack(attack: Attack, account: Account, scene: Scene): Promise<AttackReport> {
  const { base, neighbour, watch, connection, limits, alone, recoveredMs, tarpit, dataDir } = scene
  const surroundings = {
    accessCode: await createAccessCode(connection.db, { uses: 1 }),
    tarpitUrl: `http://127.0.0.1:${tarpit.port}`,
    ionq: providersOfStack(dataDir).find(({ name }) => name === 'ionq')!.credentials
  }
  const attacker = await startAttacker({ name: attack.name, base, account, surroundings }, PREPARE_LIMIT_MS)
  const sizeBefore = await databaseMib(connection)
  watch.reset()
  watch.died()
  const from = performance.now()
  attacker.begin()
  await delay(scene.attackMs)
  const to = performance.now()
  const stopped = attacker.stop()
  const recovered = async () => {
    const ready = await send({ base, method: 'GET', path: '/readyz', address: account.address, timeoutMs: 10_000 })
    return ready.status === 200 && allOk(fieldsOf(ready)) ? recoverySeconds(neighbour.jobs, to, recoveredMs) : null
  }
  const inTime = { timeoutMs: scene.recoveryMs, everyMs: 250 }
  const found = await eventually(async () => {
    const after = await recovered()
    return after === null ? null : { after }
  }, inTime).catch(() => null)
  if (found === null) neighbour.giveUp()
  const result = await stopped
  await delay(Math.max(0, to + scene.afterMs - performance.now()))
  const until = performance.now()
  const times = timesAlone(neighbour.jobs, from, to, alone)
  const during = figuresOf(neighbour.jobs, from, to)
  const after = figuresOf(neighbour.jobs, to, until)
  const report = {
    name: attack.name,
    what: attack.what,
    ...during,
    times,
    slowdown: slowdownOf(times),
    runs: 1,
    // The last job may still run.
    failures: [...during.failures, ...failuresOf(neighbour.jobs, to, until)],
    after,
    result,
    peaks: watch.peaks(),
    grownMib: (await databaseMib(connection)) - sizeBefore,
    recoverySeconds: found?.after ?? null,
    recoveries: found ? [found.after] : [],
    died: watch.died()
  }
  return { ...report, broken: brokenPromises(report, limits) }
}

const isSlow = (slowdown: number | null): boolean => slowdown !== null && slowdown > SLOWER_MAX
const isLate = (recovery: number | null): boolean => recovery !== null && recovery > RECOVERY_SECONDS_MAX

/** Whether it broke no promises but those of times, which a machine that stands still can break too. */
export const isOnlySlower = ({ broken, slowdown, recoverySeconds }: AttackReport): boolean => {
  const times = [isSlow(slowdown), isLate(recoverySeconds)].filter((isBroken) => isBroken).length
  return times > 0 && broken.length === times
}

/** Two measurements of one attack, with the later one's other figures. What either broke counts, and all times together. */
export function together(earlier: AttackReport, later: AttackReport, limits: Memory): AttackReport {
  const times = [...earlier.times, ...later.times]
  const failures = [...earlier.failures, ...later.failures]
  const died = [...earlier.died, ...later.died]
  const recoveries = [...earlier.recoveries, ...later.recoveries]
  const half = [...recoveries].sort((one, other) => one - other)[Math.floor(recoveries.length / 2)] ?? null
  const both = {
    ...later,
    times,
    failures,
    died,
    slowdown: slowdownOf(times),
    runs: earlier.runs + later.runs,
    recoveries,
    recoverySeconds: later.recoverySeconds === null ? null : half
  }
  return { ...both, broken: brokenPromises(both, limits) }
}

function brokenPromises(report: Omit<AttackReport, 'broken'>, limits: Memory): string[] {
  const { slowdown, failures, died, peaks, result } = report
  const broken: string[] = []
  if (slowdown === null) broken.push('the neighbour began no job')
  else if (isSlow(slowdown)) broken.push(`${slowdown.toFixed(1)} times slower`)
  if (failures.length > 0) broken.push(`failed: ${failures.join(' | ')}`)
  if (died.length > 0) broken.push(`died: ${died.join(', ')}`)
  broken.push(...aboveLimits(peaks, limits))
  if (report.recoverySeconds === null) broken.push('no recovery without a restart')
  else if (isLate(report.recoverySeconds)) broken.push(`recovered only after ${report.recoverySeconds.toFixed(1)} s`)
  if (result.error !== null) broken.push(`the attack failed: ${result.error}`)
  return broken
}

const allOk = (fields: Record<string, unknown>): boolean =>
  Object.values((fields.parts ?? {}) as Record<string, { state: string }>).every(({ state }) => state === 'ok')

async function databaseMib({ sql }: Connection): Promise<number> {
  const [row] = await sql<{ bytes: string }[]>`select pg_database_size(current_database())::text as bytes`
  return Number(row!.bytes) / 1024 / 1024
}
