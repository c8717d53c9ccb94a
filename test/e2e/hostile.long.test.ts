// The short form of `npm run hostile`: what one team does neither stops the other nor kills a process. Times are
// measured by the long form only.
import { afterAll, expect, test } from '@jest/globals'
import { removeDataDir } from '../chaos/data-folder.js'
import { attacks } from '../hostile/attacks/table.js'
import { runHostile } from '../hostile/hostile.js'
import { reportText } from '../hostile/report.js'

const folders: string[] = []
afterAll(() => folders.forEach(removeDataDir))

test('no job of a team fails, no process dies and nothing needs a restart while another team attacks the service', async () => {
  const log: string[] = []
  const report = await runHostile({
    attacks: attacks.filter(({ short }) => short),
    aloneMs: 5_000,
    attackMs: 3_000,
    afterMs: 0,
    recoveryMs: 60_000,
    recoveredMs: 20_000,
    runsWhereSlower: 1,
    say: (line) => log.push(line)
  })
  const outcomes = report.attacks.map(({ name, failures, died, recoverySeconds, result }) => ({
    name,
    failures,
    died,
    error: result.error,
    recovered: recoverySeconds !== null
  }))
  try {
    expect(outcomes).toEqual(
      outcomes.map(({ name }) => ({ name, failures: [], died: [], error: null, recovered: true }))
    )
  } catch (error) {
    throw new Error(`${log.join('\n')}\n${reportText(report)}\nLogs: ${report.dataDir}`, { cause: error })
  }
  folders.push(report.dataDir)
  expect(outcomes).not.toEqual([])
}, 900_000)
