// Scheduled runs that are due in the same minute.
import { afterAll, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { createCapsuleActivities } from '../../../activities/capsule/capsule-activities.js'
import { newId } from '../../../db/ids.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('scheduled-starts')
afterAll(() => database.drop())

test('hold a few slots of the worker while they wait for each other; the others come back later', async () => {
  const { startScheduledRun } = createCapsuleActivities({
    db: database.db,
    announceRun() {},
    log: { error() {} },
    countFault() {},
    countRepeatedStep() {}
  })
  const start = (isLocal: boolean) => {
    const due = { capsuleId: newId(), version: 1, scheduledAt: new Date().toISOString() }
    return new MockActivityEnvironment({ isLocal }).run(() => startScheduledRun(due))
  }
  await database.sql
    .begin(async (held) => {
      await held`lock table capsules, capsule_schedules in access exclusive mode`
      const waiting = Array.from({ length: 9 }, () => start(false))
      await expect(start(false)).rejects.toMatchObject({ type: 'not_yet' })
      // A workflow of an earlier release starts its run in a local activity, which has no queue to come back to.
      waiting.push(start(true))
      return { waiting }
    })
    .then(({ waiting }) => Promise.all(waiting))
})
