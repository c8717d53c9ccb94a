// Every path through the verifyCapsule workflow. The activities return what the real ones would.
import { ApplicationFailure } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'
import type { CapsuleActivities } from '../../activities/capsule/capsule-activities.js'
import { VERIFY_CAPSULE_WORKFLOW } from '../../domain/verification/schedule-names.js'
import { noted, type Path } from './path.js'

const runId = '01900000-0000-7000-8000-000000000001'

const activitiesOf = (calls: string[], changed: Partial<CapsuleActivities> = {}): object =>
  noted(calls, {
    startScheduledRun: async () => ({ next: 'await', runId }),
    awaitRun: async () => 'consistent',
    ...changed
  } satisfies CapsuleActivities)

const ended = (outcome: 'refused' | 'skipped' | 'not due'): CapsuleActivities['startScheduledRun'] => {
  return async () => ({ next: 'end', outcome, runId: null })
}

const notYet = () =>
  ApplicationFailure.create({
    type: 'not_yet',
    message: 'the run goes on',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: 20
  })

const paths: Omit<Path, 'workflow' | 'args'>[] = [
  {
    name: 'verification-judged',
    activities: (calls) => {
      let looks = 0
      return activitiesOf(calls, {
        awaitRun: async () => {
          if (looks++ < 2) throw notYet()
          return 'consistent'
        }
      })
    },
    expected: { answer: 'consistent', calls: ['startScheduledRun', 'awaitRun', 'awaitRun', 'awaitRun'] }
  },
  {
    // The others were recorded when the start was a local activity.
    name: 'verification-on-a-queue-of-its-own',
    activities: (calls) => activitiesOf(calls),
    expected: { answer: 'consistent', calls: ['startScheduledRun', 'awaitRun'] }
  },
  {
    name: 'verification-refused',
    activities: (calls) => activitiesOf(calls, { startScheduledRun: ended('refused') }),
    expected: { answer: 'refused', calls: ['startScheduledRun'] }
  },
  {
    name: 'verification-skipped',
    activities: (calls) => activitiesOf(calls, { startScheduledRun: ended('skipped') }),
    expected: { answer: 'skipped', calls: ['startScheduledRun'] }
  },
  {
    name: 'verification-with-the-database-away',
    activities: (calls) => {
      const away = new Set<string>()
      const onceAway = (name: string) => {
        if (away.has(name)) return
        away.add(name)
        throw new Error('connect ECONNREFUSED')
      }
      return activitiesOf(calls, {
        startScheduledRun: async () => {
          onceAway('startScheduledRun')
          return { next: 'await', runId }
        },
        awaitRun: async () => {
          onceAway('awaitRun')
          return 'different'
        }
      })
    },
    expected: { answer: 'different', calls: ['startScheduledRun', 'startScheduledRun', 'awaitRun', 'awaitRun'] }
  }
]

export const verificationPaths: Path[] = paths.map((path) => ({
  ...path,
  workflow: VERIFY_CAPSULE_WORKFLOW,
  args: [{ capsuleId: '01900000-0000-7000-8000-000000000000', version: 1 }]
}))
