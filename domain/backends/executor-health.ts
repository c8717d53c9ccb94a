// The executor's health report, and what follows from it.
export interface ExecutorHealth {
  /**
   * With `level` none, nothing isolates runs; the executor then refuses them with `problem`, unless it was configured
   * not to.
   */
  sandbox: { level: string; problem: string; warning: string }
  slots: { total: number; running: number }
  engines: { name: string; version: string }[]
}

/** Whether the executor accepts runs at all. */
export const isFit = ({ sandbox }: ExecutorHealth): boolean => sandbox.level !== 'none' || sandbox.warning !== ''
