// Verifications outside the event loop. One that takes too long is reported as not testable, with the reason.
import { judge } from '../../domain/verification/judge.js'
import { marginFloor } from '../../domain/verification/margin.js'
import type { Verification } from '../../domain/verification/report.js'
import { type PoolLimits, PoolTimeout, startThreadPool } from './thread-pool.js'
import type { JudgeInput } from './verify.js'

export interface JudgePool {
  /** @throws PoolBusy when too many of the team wait; Error when a result cannot be read, or the pool is closed before the verdict. */
  judgeInThread(team: string, input: JudgeInput): Promise<Verification>
  /** Stops the threads and rejects what waits. */
  close(): Promise<void>
}

/** The limit of a minute is enough for 1,000 circuits with a few outcomes each, or for some hundred with many. */
export function startJudgePool(limits: PoolLimits = {}): JudgePool {
  const pool = startThreadPool<JudgeInput, Verification>('services/threads/judge-thread', 'judging', limits)
  return {
    judgeInThread: (team, input) =>
      pool.run(team, input).catch((error: unknown) => {
        if (error instanceof PoolTimeout) return unfinished(input, error.message)
        throw error
      }),
    close: pool.close
  }
}

const unfinished = ({ tasks, margin, ...settings }: JudgeInput, why: string): Verification =>
  judge(
    tasks.map(({ name }) => ({ name, uncounted: why, same: false })),
    { ...settings, margin: margin ?? marginFloor(tasks.some(({ sealed }) => sealed.facts.hardware)), seedText: '' }
  )
