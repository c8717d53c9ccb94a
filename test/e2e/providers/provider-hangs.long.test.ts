// A provider that never answers, from before anything was sent to it: the jobs that wait for it hold no slot of the jobs of
// others, and complete once it answers.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { ACTIVITY_SLOTS } from '../../../services/executor/gate.js'
import { eventually } from '../../support/eventually.js'
import { bell, type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

/** More than a worker has slots. */
const JOBS = ACTIVITY_SLOTS + 20
const AT_ONCE = 10

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('provider-hangs', {
    providers: ['aws-braket'],
    env: { PROVIDER_CALL_TIMEOUT: '60' }
  })
}, 240_000)

afterAll(() => platform.close())

const countOf = async (status: string): Promise<number> => {
  const [row] = await platform.connection.db.execute<{ count: number }>(
    sql`select count(*)::int as count from jobs where team_id = ${platform.teamId} and status = ${status}`
  )
  return row!.count
}

test('hundreds of jobs at a provider that hangs do not keep the durable job of another team from its slot', async () => {
  const control = platform.provider('aws-braket')
  control.fault({ match: { method: 'GET', path: '/device' }, kind: 'hang', times: 1_000_000 })
  for (let submitted = 0; submitted < JOBS; submitted += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => platform.submitAt('aws-braket', { execution_mode: 'temporal' }))
    )
  await eventually(async () => (await countOf('running')) === JOBS, { timeoutMs: 240_000 })
  await eventually(() => control.requests().some(({ fault }) => fault === 'hang'), { timeoutMs: 240_000 })

  const other = (await (await platform.call('POST', '/api/teams', { name: 'Another team' })).json()) as { id: string }
  const local = await platform.submit({
    circuit: { format: 'qasm3', payload: bell },
    backend: 'local',
    params: { shots: 100 },
    team_id: other.id,
    execution_mode: 'temporal'
  })
  expect(await platform.ended(local, 30_000)).toMatchObject({ status: 'completed' })
  expect(await countOf('running')).toBe(JOBS)

  control.reset()
  await eventually(async () => (await countOf('completed')) === JOBS, { timeoutMs: 900_000, everyMs: 500 })
  expect(control.tasks()).toHaveLength(JOBS)
  expect(await platform.mismatches()).toEqual([])
}, 1_500_000)
