// The programs of the load's capsules, whose correct results are known whatever process dies.
import type { Chance } from './chance.js'
import { circuit, type End, SHOTS, simulator } from './plan.js'

/** The correct results of each task's program, by the task's name. */
export type Ends = Readonly<Record<string, readonly End[]>>

export interface PlannedSuite {
  workflow: { tasks: Record<string, unknown>[] }
  ends: Ends
}

/** A circuit, a program that reverses its outcomes, and if `breaks`, a program that fails and one after it that never runs. */
export function planSuite(chance: Chance, breaks: boolean): PlannedSuite {
  const { payload, end } = circuit(chance)
  const turned = Object.fromEntries(Object.entries(end).map(([bits, count]) => [[...bits].reverse().join(''), count]))
  const task = (name: string, framework: string, code: string, parameters = {}) => ({
    name,
    inline_code: code,
    framework,
    backend: simulator.slug,
    parameters: { shots: SHOTS, ...parameters },
    execution_mode: chance.pick(['direct', 'temporal'] as const)
  })
  const seconds = chance.between(0, 1.5).toFixed(2)
  const turn = `import time

def main(counts):
    time.sleep(${seconds})
    return {"counts": {bits[::-1]: count for bits, count in counts.items()}}
`
  const tasks = [
    task('circuit', 'openqasm', payload),
    task('turned', 'marqov', turn, { counts: { $result: 'circuit', path: '/counts' } })
  ]
  if (breaks)
    tasks.push(
      task('broken', 'marqov', 'def main():\n    raise ValueError("as planned")\n'),
      task('never', 'marqov', 'def main():\n    return {"counts": {"never": 1}}\n')
    )
  return {
    workflow: { tasks },
    ends: { circuit: [end], turned: [turned], broken: ['execution_error'], never: [] }
  }
}

/** The result of its program before `at` and after, as if the machine had changed. */
export interface PlannedChange {
  body: Record<string, unknown>
  before: Record<string, number>
  after: Record<string, number>
}

export const planChange = (at: Date): PlannedChange => ({
  body: {
    // The program makes the counts itself, because a verification of different circuits does not compare their counts. The
    // text makes a result that is large enough for a content store.
    inline_code: `import time

def main():
    counts = {"10": ${SHOTS}} if time.time() < ${(at.getTime() / 1000).toFixed(3)} else {"01": ${SHOTS}}
    return {"counts": counts, "text": "x" * 200_000}
`,
    framework: 'marqov'
  },
  before: { 10: SHOTS },
  after: { '01': SHOTS }
})
