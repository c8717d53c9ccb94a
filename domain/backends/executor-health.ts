// What the executor says of itself, and what follows from it.
export interface ExecutorHealth {
  /** `level` none: nothing isolates its runs. It refuses them then, with the `problem`, unless it was told not to. */
  sandbox: { level: string; problem: string; warning: string }
  slots: { total: number; running: number }
  engines: { name: string; version: string }[]
}

/** Whether the executor takes runs at all. */
export const isFit = ({ sandbox }: ExecutorHealth): boolean => sandbox.level !== 'none' || sandbox.warning !== ''
