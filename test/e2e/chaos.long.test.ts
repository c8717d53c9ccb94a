// The short form of `npm run chaos`: each part of a stack is killed once while jobs are submitted.
import { afterAll, expect, test } from '@jest/globals'
import { runChaos } from '../chaos/chaos.js'
import { removeDataDir } from '../chaos/data-folder.js'
import { invariants } from '../chaos/job-proof.js'
import { killedParts } from '../chaos/killer.js'
import { simulator } from '../chaos/plan.js'
import { reportText } from '../chaos/report.js'
import { paidBackends } from '../support/stack/provider-platform.js'

const folders: string[] = []
afterAll(() => folders.forEach(removeDataDir))

test('no job, capsule or verification is lost, stuck, doubled, wrong or charged wrongly while every part is killed', async () => {
  const log: string[] = []
  const report = await runChaos({
    seed: 1,
    rounds: 1,
    everyMs: 4_000,
    jobsPerSecond: 2,
    contentStore: false,
    deedEveryMs: 4_000,
    frozenMs: 12_000,
    settleMs: 300_000,
    // The product's own waiting times, shortened; the outcomes are the same.
    env: {
      REDELIVER_SECONDS: '3',
      WORKFLOW_QUIET_SECONDS: '5',
      WORKFLOW_MISSING_SECONDS: '3',
      WORKFLOW_SWEEP_SECONDS: '2',
      PROVIDER_LOOKUP_WINDOW: '5'
    },
    say: (line) => log.push(line)
  })
  const noViolations = Object.fromEntries(invariants.map((invariant) => [invariant, []]))
  try {
    expect(report.findings).toEqual(noViolations)
  } catch (error) {
    throw new Error(`${log.join('\n')}\n${reportText(report)}\nLogs: ${report.dataDir}`, { cause: error })
  }
  folders.push(report.dataDir)
  expect(Object.entries(report.kills).filter(([, times]) => times === 0)).toEqual([])
  expect(Object.keys(report.kills).sort()).toEqual([...killedParts].sort())
  // The invariants mean something only if each kind of work completed.
  const atProviders = Object.values(paidBackends)
  for (const mode of ['direct', 'temporal'])
    for (const backends of [[simulator.slug], atProviders])
      expect(report.ends.filter((end) => end.mode === mode && backends.includes(end.backend))).toContainEqual(
        expect.objectContaining({ status: 'completed' })
      )
  for (const backend of atProviders)
    expect(report.ends).toContainEqual(expect.objectContaining({ backend, status: 'completed' }))
  for (const what of [
    /^capsule (published|archived)$/,
    /^run template, request: completed$/,
    /^run verify, .*: exact$/
  ])
    expect(report.capsules).toContainEqual(expect.objectContaining({ what: expect.stringMatching(what) }))
}, 1_200_000)
