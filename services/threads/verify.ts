// Compares two stored results: the work of a judging thread.
import { createHash } from 'node:crypto'
import { judge } from '../../domain/verification/judge.js'
import { defaultMargin } from '../../domain/verification/margin.js'
import type { Verification } from '../../domain/verification/report.js'
import { circuitPairs, type TaskRuns } from '../../domain/verification/statistics/circuit-pairs.js'

/** Results as the JSON text that is stored; every task of the capsule once. */
export interface JudgeInput {
  tasks: TaskRuns[]
  /** Total variation distance that the seal declares to be tolerated; `null`: the default of a seal. */
  margin: number | null
  alpha?: number
  beta?: number
}

/** The same input gives the same report, to the last digit. @throws Error when a result is not a JSON object. */
export function verify({ tasks, margin, ...settings }: JudgeInput): Verification {
  const digests = createHash('sha256')
  for (const { name, sealed, rerun } of tasks)
    for (const text of [name, sealed.text, rerun.text]) digests.update(sha256(text))
  const sealed = tasks.map(({ sealed: { text, facts } }) => ({ text, hardware: facts.hardware }))
  return judge(
    tasks.flatMap((task) => circuitPairs(task)),
    {
      ...settings,
      margin: margin ?? defaultMargin(sealed),
      seedText: digests.digest('hex')
    }
  )
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
