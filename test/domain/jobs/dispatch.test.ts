import { expect, test } from '@jest/globals'
import {
  jobOfWorkflow,
  readTeamRunningMax,
  TEAM_RUNNING_JOBS,
  workflowIdOf,
  workflowSummary
} from '../../../domain/jobs/dispatch.js'
import { executionRetry, waitAfterAttempt } from '../../../domain/jobs/retry.js'

test("the limit on a team's running jobs is read from its setting and is at least one", () => {
  expect(readTeamRunningMax(undefined)).toBe(TEAM_RUNNING_JOBS)
  expect(readTeamRunningMax('')).toBe(TEAM_RUNNING_JOBS)
  expect(readTeamRunningMax('1')).toBe(1)
  for (const text of ['0', '-1', '1.5', 'many', '1000001', 'Infinity'])
    expect(() => readTeamRunningMax(text)).toThrow(
      `TEAM_RUNNING_JOBS_MAX must be a whole number from 1 to 1000000 (got "${text}")`
    )
})

test('a lost attempt is followed by the next after 1 s, then 2 s, and the last by none', () => {
  expect([1, 2, 3].map(waitAfterAttempt)).toEqual([1_000, 2_000, null])
  expect(waitAfterAttempt(executionRetry.attemptsMax + 1)).toBeNull()
})

test('the summary of a workflow is one short line, without an address', () => {
  const label = { backend: 'local', teamId: '0190', team: 'Ions', shots: 100 }
  expect(workflowSummary(label)).toBe('local · Ions · 100 shots')
  expect(workflowSummary({ ...label, team: 'two\r\nlines' })).toBe('local · two lines · 100 shots')
  for (const team of ["ada@example.org's Team", null])
    expect(workflowSummary({ ...label, team })).toBe('local · 0190 · 100 shots')
  expect(Buffer.byteLength(workflowSummary({ ...label, team: '🔑'.repeat(100) }))).toBeLessThanOrEqual(400)
})

test('the id of a workflow says whose it is, and that of another kind says nothing', () => {
  const id = '01a2068b-7f5f-7496-810e-d6ddf90c42d7'
  for (const generation of [1, 2, 6]) expect(jobOfWorkflow(workflowIdOf(id, generation))).toEqual({ id, generation })
  for (const other of [`verify-${id}-1`, `job-${id}-`, `job-${id}-x`, 'job-1', id, ''])
    expect(jobOfWorkflow(other)).toBeNull()
})
