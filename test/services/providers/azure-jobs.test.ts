import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { jobIdOf, viewOf } from '../../../services/providers/azure/jobs.js'

describe('the id of a job', () => {
  const tokens = Array.from({ length: 200 }, (_, at) => createHash('sha256').update(String(at)).digest('hex'))

  test('is a UUID made from the token', () => {
    expect(jobIdOf(`0123456789abcdef${'f'.repeat(48)}`)).toBe('01234567-89ab-8def-bfff-ffffffffffff')
    for (const token of tokens)
      expect(jobIdOf(token)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  test('is the same for the same token, and another for another', () => {
    expect(new Set([...tokens, ...tokens].map(jobIdOf)).size).toBe(tokens.length)
  })
})

describe('the status of a job', () => {
  test.each([
    ['Queued', 'queued'],
    ['Waiting', 'queued'],
    ['Executing', 'running'],
    ['Finishing', 'running'],
    ['CancellationRequested', 'running'],
    ['Cancelling', 'running'],
    ['Succeeded', 'completed'],
    ['Completed', 'completed'],
    ['Failed', 'failed'],
    ['Cancelled', 'cancelled'],
    ['Recalibrating', 'running'],
    ['toString', 'running']
  ])('%s is %s', (raw, status) => {
    expect(viewOf({ status: raw })).toMatchObject({ status, raw, queuePosition: null, predictedWaitSeconds: null })
  })

  test.each<unknown>([undefined, null, 5, {}, { toString: 1 }, []])('%p is running', (status) => {
    expect(viewOf({ status })).toMatchObject({ status: 'running', raw: 'no text', cost: null })
  })
})

describe('the reason of a failed job', () => {
  test.each<[string, unknown, string | null]>([
    ['code and message', { code: 'InvalidInputData', message: 'No such gate.' }, 'InvalidInputData: No such gate.'],
    ['a message', { message: 'No such gate.' }, 'No such gate.'],
    ['a long message', { message: 'x'.repeat(5000) }, 'x'.repeat(1000)],
    ['nothing', null, null],
    ['objects', { code: {}, message: { toString: 1 } }, null],
    ['text', 'It failed.', null]
  ])('is read from %s', (_what, errorData, failure) => {
    expect(viewOf({ status: 'Failed', errorData }).failure).toBe(failure)
  })

  test('is only that of a failed one', () => {
    expect(viewOf({ status: 'Succeeded', errorData: { message: 'A leftover.' } }).failure).toBeNull()
  })
})

describe('the charge for a job', () => {
  const ran = { target: 'quantinuum.qpu.h2-1', beginExecutionTime: '2026-07-01T10:00:00Z' }
  const usd = (estimatedTotal: unknown, events: unknown = []) => ({ currencyCode: 'USD', estimatedTotal, events })

  test.each<[string, object, object]>([
    ['is USD', { costEstimate: usd(1.3) }, { cost: 1_300_000n }],
    ['is nothing', { costEstimate: usd(0) }, { cost: 0n }],
    [
      'names what was used',
      {
        costEstimate: usd(2, [
          { measureUnit: 'hqc', amountConsumed: 5.5 },
          { measureUnit: 'hqc', amountConsumed: 1 }
        ])
      },
      { cost: 2_000_000n, usage: { amount: 6.5, unit: 'hqc' } }
    ],
    [
      'has parts of several units',
      {
        costEstimate: usd(2, [
          { measureUnit: '1q', amountConsumed: 5 },
          { measureUnit: '2q', amountConsumed: 1 }
        ])
      },
      { cost: 2_000_000n }
    ],
    [
      'is of another currency',
      { costEstimate: { currencyCode: 'EUR', estimatedTotal: 3.2 } },
      { cost: null, usage: { amount: 3.2, unit: 'EUR' } }
    ],
    [
      'is in credits of the provider',
      { costEstimate: { currencyCode: 'HQC', estimatedTotal: 12.5 } },
      { cost: null, usage: { amount: 12.5, unit: 'HQC' } }
    ],
    ['is still to come', {}, { cost: null, isUsagePending: true }],
    ['has no amount', { costEstimate: usd('1.30') }, { cost: null, isUsagePending: true }],
    ['is less than nothing', { costEstimate: usd(-1) }, { cost: null, isUsagePending: true }],
    ['is more than any', { costEstimate: usd(1e12) }, { cost: null, isUsagePending: true }],
    ['has no currency', { costEstimate: { estimatedTotal: 1 } }, { cost: null, isUsagePending: true }],
    ['is text', { costEstimate: 'free' }, { cost: null, isUsagePending: true }]
  ])('that %s', (_what, job, charge) => {
    const { cost, usage, isUsagePending } = viewOf({ ...ran, status: 'Succeeded', ...job })
    expect({ cost, usage, isUsagePending }).toEqual({ usage: undefined, isUsagePending: undefined, ...charge })
  })

  test.each(['ionq.simulator', 'rigetti.sim.qvm', 'quantinuum.sim.h2-1sc'])(
    'of %s, which is free, is not to come',
    (target) => {
      const view = viewOf({ ...ran, target, status: 'Succeeded' })
      expect([view.cost, view.isUsagePending]).toEqual([null, undefined])
    }
  )

  test('is nothing where the job never ran', () => {
    for (const status of ['Cancelled', 'Failed']) {
      expect(viewOf({ target: ran.target, status }).cost).toBe(0n)
      expect(viewOf({ ...ran, status })).toMatchObject({ cost: null, isUsagePending: true })
    }
  })

  test('is unknown until the job has ended', () => {
    for (const status of ['Waiting', 'Executing', 'Cancelling'])
      expect(viewOf({ ...ran, status, costEstimate: usd(1.3) })).toEqual(expect.objectContaining({ cost: null }))
  })
})
