// What the capsules of the load are made of: programs whose right ends are known, whatever dies meanwhile.
import type { Chance } from './chance.js'
import { circuit, type End, SHOTS, simulator } from './plan.js'

/** What each task's program may leave, by the task's name; of several, any. */
export type Ends = Readonly<Record<string, readonly End[]>>

export interface PlannedSuite {
  workflow: { tasks: Record<string, unknown>[] }
  ends: Ends
}

/** A circuit, a program that turns round what that has left, and, where it breaks, one that fails with another one behind it. */
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

/** What its program leaves until `at`, and from then on, as if the machine were another one. */
export interface PlannedChange {
  body: Record<string, unknown>
  before: Record<string, number>
  after: Record<string, number>
}

export const planChange = (at: Date): PlannedChange => ({
  body: {
    // Its own counts: of circuits that differ no verification says how far their counts are apart.
    inline_code: `import time

def main():
    return {"counts": {"10": ${SHOTS}} if time.time() < ${(at.getTime() / 1000).toFixed(3)} else {"01": ${SHOTS}}}
`,
    framework: 'marqov'
  },
  before: { 10: SHOTS },
  after: { '01': SHOTS }
})
