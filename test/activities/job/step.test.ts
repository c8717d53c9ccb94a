// What a step makes of its errors: a retry while the database is away, and the end of the job for what no repetition will
// mend.
import { describe, expect, test } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/activity'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { FinalFault, retryWhileDatabaseAway } from '../../../activities/job/retry-while-database-away.js'
import { asStep } from '../../../activities/job/step.js'
import { ServiceError } from '../../../domain/errors.js'

const logger = new DefaultLogger('ERROR')

const withCode = (code: string) => new Error('Failed query', { cause: Object.assign(new Error(code), { code }) })

/** Runs a step whose tries end with these errors, then with `done`. */
async function step(attempt: number, ...errors: unknown[]) {
  const repeated: string[] = []
  const logged: object[] = []
  const counted: string[] = []
  let tries = 0
  const deps = {
    log: { error: (detail: object) => void logged.push(detail) },
    countFault: (name: string) => void counted.push(name),
    countRepeatedStep: (name: string) => void repeated.push(name)
  }
  const environment = new MockActivityEnvironment({ activityType: 'completeJob', attempt, isLocal: true }, { logger })
  const end = await environment
    .run(() =>
      asStep(deps, { jobId: 'a job' }, async () => {
        const error = errors[tries++]
        if (error !== undefined) throw error
        return 'done'
      })
    )
    .catch((error: unknown) => error)
  return { end, tries, logged, counted, repeated }
}

describe('a step of a workflow', () => {
  test.each([
    ['away', 'ECONNREFUSED'],
    ['conflict', '40P01']
  ])('that finds the database %s gives its slot back, and is tried again after a pause', async (kind, code) => {
    const { end, tries, counted } = await step(5, withCode(code))
    expect(end).toMatchObject({ type: `database_${kind}`, nonRetryable: false })
    const pause = Number((end as ApplicationFailure).nextRetryDelay)
    expect(pause).toBeGreaterThanOrEqual(1_600)
    expect(pause).toBeLessThanOrEqual(3_200)
    expect({ tries, counted }).toEqual({ tries: 1, counted: [] })
  })

  test('that the workflow itself repeats is counted beyond its twentieth try', async () => {
    expect(await step(20, withCode('57014'))).toMatchObject({ repeated: [] })
    expect(await step(21, withCode('57014'))).toMatchObject({ repeated: ['completeJob'] })
  })

  test('that meets a fault for a moment succeeds', async () => {
    expect(await step(1, withCode('23505'), withCode('23505'))).toMatchObject({ end: 'done', tries: 3, counted: [] })
  })

  test('that always meets a fault ends its job, with the reason in the log and not in the job', async () => {
    const fault = withCode('23514')
    const { end, tries, logged, counted } = await step(1, fault, fault, fault)
    expect(end).toMatchObject({ type: 'internal_error', nonRetryable: true })
    expect(tries).toBe(3)
    expect(logged).toMatchObject([{ jobId: 'a job', step: 'completeJob', reason: '23514' }])
    expect(counted).toEqual(['completeJob'])
  })

  test('that ends by an error of the catalogue gives the job its code', async () => {
    const refusal = new ServiceError('backend_unavailable', 'set it anew')
    const { end } = await step(1, refusal, refusal, refusal)
    expect(end).toMatchObject({ type: 'backend_unavailable', nonRetryable: true })
  })

  test('is not repeated for an error that was repeated inside it', async () => {
    const { end, tries } = await step(1, new FinalFault(withCode('57014')))
    expect(end).toMatchObject({ type: 'internal_error', nonRetryable: true })
    expect(tries).toBe(1)
  })

  test('passes on what it decided itself', async () => {
    const decided = ApplicationFailure.create({ type: 'not_yet', message: 'queued' })
    expect(await step(1, decided)).toMatchObject({ end: decided, tries: 1, counted: [] })
  })
})

describe('a write after work outside', () => {
  const retrying = { log: { warn: () => {} }, jobId: 'a job', signal: new AbortController().signal }

  test('is given up after three tries when it meets a fault', async () => {
    let tries = 0
    const write = retryWhileDatabaseAway(retrying, async () => {
      tries++
      throw withCode('22P05')
    })
    await expect(write).rejects.toThrow(FinalFault)
    expect(tries).toBe(3)
  })

  test('continues through an outage that is longer than the tries of a fault', async () => {
    let tries = 0
    const write = retryWhileDatabaseAway(retrying, async () => {
      if (++tries <= 4) throw withCode('CONNECTION_CLOSED')
      return 'stored'
    })
    expect(await write).toBe('stored')
  })
})
