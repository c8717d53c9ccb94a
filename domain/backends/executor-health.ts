// The executor's health report, and what follows from it.
export interface ExecutorHealth {
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
