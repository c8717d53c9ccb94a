// The worker tells of every status of a capsule's run after it is committed, so that a listener that reads then sees it.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startCapsuleJudge } from '../../../apps/worker/sweeps/capsule-judge.js'
import { startCapsuleRunSweep } from '../../../apps/worker/sweeps/capsule-run-sweep.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { createRun } from '../../../db/capsule-runs/capsule-runs.js'
import { beginJob, completeJob } from '../../../db/job-steps/job-steps.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { lockTeamForWrite } from '../../../db/teams/teams.js'
import { startJudgePool } from '../../../services/threads/judge-pool.js'
import { addCapsuleOfJob, bellResult } from '../../support/capsules/capsule-rows.js'
import { eventually } from '../../support/eventually.js'
import { addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('capsule_announcements')
const { db } = database
const log = pino({ level: 'silent' })
const reports = createSweepReports(db, log, () => performance.now())

/** The statuses that a listener reads when it is told of a run. */
const seen: Promise<string>[] = []
const announceRun = (runId: string) => {
  seen.push(
    db
      .execute<{ status: string }>(sql`select status from capsule_runs where id = ${runId}`)
      .then(([row]) => row!.status)
  )
}
const has = async (status: string) => (await Promise.all(seen)).includes(status)

const judge = startCapsuleJudge({ db, pool: startJudgePool(), announceRun, reports, log, everyMs: 60_000 })
const runs = startCapsuleRunSweep({
  db,
  announce: () => {},
  announceRun,
  reports,
  log,
  everyMs: 60_000,
  onJudging: judge.wake
})
afterAll(async () => {
  await runs.close()
  await judge.close()
  await database.drop()
})

test('a run is announced when it begins, when it waits for its verdict, and with the verdict', async () => {
  const ada = await addPerson(db)
  const teamId = await addTeam(db, ada)
  const capsuleId = await addCapsuleOfJob(db, ada, teamId)
  const { runId, jobIds } = await db.transaction(async (tx) => {
    await lockTeamForWrite(tx, { ...ada, key: null }, teamId)
    const owner = { userId: ada.userId, keyId: null }
    return createRun(tx, { capsuleId, mode: 'verify', trigger: 'request', owner, actor: 'system', at: new Date() })
  })
  const [jobId] = jobIds as [string]
  const fence = { generation: 1 }
  await beginJob(db, jobId, fence)
  runs.onRunChanged(runId)
  await eventually(() => has('running'))
  const number = await openAttempt(db, jobId, fence)
  const sha256 = await completeAttempt(db, jobId, number!, bellResult(), [])
  await completeJob(db, jobId, fence, sha256!)
  runs.onRunChanged(runId)
  await eventually(() => has('completed'))
  expect([...new Set(await Promise.all(seen))]).toEqual(['running', 'judging', 'completed'])
})
