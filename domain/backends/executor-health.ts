// The executor's health report, and what follows from it.
import type { ExecutorState } from './executor-choice.js'

/** The version of the HTTP interface that this side speaks; the executor has the same one (protocol/versions.py). */
export const EXECUTOR_PROTOCOL = 1

export interface ExecutorHealth {
  /** Absent: a release that knew no protocol. */
  protocol?: number
  /** The id of the executor; its successor at the same address has another one. */
  instance_id?: string
  /**
   * `degraded`: some packages have no process to run with at the moment, or a killed run has not died. `draining`: it stops
   * and takes no more runs.
   */
  status: 'ok' | 'degraded' | 'draining' | 'insecure'
  /**
   * With `level` none, nothing isolates runs; the executor then refuses them with `problem`, unless it was configured
   * not to.
   */
  sandbox: { level: string; problem: string; warning: string }
  slots: { total: number; running: number }
  engines: { name: string; version: string }[]
}

/** Whether the executor accepts runs at all. */
export const isFit = ({ sandbox }: Pick<ExecutorHealth, 'sandbox'>): boolean =>
  sandbox.level !== 'none' || sandbox.warning !== ''

/** Why the executor does not run everything at the moment; `null` when it does. */
export function executorProblem(health: Pick<ExecutorHealth, 'status' | 'sandbox'>): string | null {
  if (!isFit(health)) return `it refuses to run code: ${health.sandbox.problem}`
  return health.status === 'degraded' || health.status === 'draining' ? `it is ${health.status}` : null
}

/** Whether calls can go to an executor that reports so. */
export function stateOf(health: ExecutorHealth): ExecutorState {
  if (health.protocol !== EXECUTOR_PROTOCOL) return 'foreign'
  if (!isFit(health)) return 'unfit'
  return health.status === 'draining' ? 'draining' : 'ready'
}

/** Why calls cannot go to an executor that reports so, or what is wrong with it; `null` when nothing is. */
export const problemOf = (health: ExecutorHealth): string | null =>
  health.protocol === EXECUTOR_PROTOCOL
    ? executorProblem(health)
    : `it speaks protocol ${health.protocol ?? 'of an earlier release'}, this side ${EXECUTOR_PROTOCOL}: run the same release on both sides`

/** Several executors as one: their slots and engines together, and the isolation of the weakest. */
export function mergedHealth(healths: readonly ExecutorHealth[]): ExecutorHealth {
  const [first] = healths
  const engines = new Map(healths.flatMap((one) => one.engines.map((engine) => [engine.name, engine] as const)))
  const least = (healths.find((one) => !isFit(one)) ?? healths.find((one) => one.sandbox.warning !== '') ?? first)!
  return {
    ...first!,
    sandbox: least.sandbox,
    slots: {
      total: healths.reduce((sum, { slots }) => sum + slots.total, 0),
      running: healths.reduce((sum, { slots }) => sum + slots.running, 0)
    },
    engines: [...engines.values()]
  }
}
