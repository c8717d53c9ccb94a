import { describe, expect, test } from '@jest/globals'
import {
  type LimitName,
  limitNames,
  rateLimitRefusalBody,
  rateLimits,
  scaled,
  wholeSeconds
} from '../../../domain/teams/rate-limits.js'

// A second copy of the figures, so that one changed by mistake is noticed.
const specified: Record<LimitName, [max: number, windowSeconds: number, scope: string]> = {
  submit: [10, 60, 'user'],
  submitTeam: [100, 86_400, 'team'],
  cancel: [120, 60, 'user'],
  compare: [20, 60, 'user'],
  capsuleCreate: [5, 60, 'user'],
  capsuleImport: [3, 60, 'user'],
  capsuleWrite: [30, 60, 'user'],
  capsuleSeal: [10, 60, 'user'],
  scriptUpload: [5, 60, 'user'],
  scriptWrite: [30, 60, 'user'],
  scriptAnalyse: [20, 60, 'user'],
  telemetry: [60, 60, 'user'],
  teamWrite: [30, 60, 'user'],
  apiKeys: [20, 60, 'user'],
  webhooks: [20, 60, 'user'],
  invitations: [10, 60, 'user'],
  secrets: [20, 60, 'user'],
  members: [30, 60, 'user'],
  profile: [30, 60, 'user'],
  validateCode: [5, 60, 'address'],
  signUp: [10, 60, 'address'],
  signIn: [10, 60, 'address'],
  signInFailed: [10, 900, 'email'],
  passwordResetMail: [5, 3_600, 'email'],
  invitationMail: [5, 86_400, 'email'],
  unprovedJobMail: [10, 86_400, 'email'],
  read: [100, 60, 'user'],
  poll: [600, 60, 'user'],
  scheduled: [500, 86_400, 'team']
}

test('the limits have the documented figures, each under its own name', () => {
  expect(rateLimits).toEqual(
    Object.fromEntries(
      Object.entries(specified).map(([name, [max, windowSeconds, scope]]) => [
        name,
        { name, max, windowSeconds, scope }
      ])
    )
  )
})

describe('the scale of rate limits', () => {
  test.each([
    [1, 10, 3, 100],
    [2, 20, 6, 200],
    [0.5, 5, 2, 50],
    [0.25, 3, 1, 25],
    [0.001, 1, 1, 1],
    [1000, 10_000, 3_000, 100_000]
  ])('of %p makes 10, 3 and 100 to %p, %p and %p', (factor, submit, capsuleImport, read) => {
    const limits = scaled(rateLimits, factor)!
    expect([limits.submit.max, limits.capsuleImport.max, limits.read.max]).toEqual([submit, capsuleImport, read])
  })

  test('changes only the counts, and not its argument', () => {
    const before = structuredClone(rateLimits)
    const limits = scaled(rateLimits, 7)!
    for (const name of limitNames) expect(limits[name]).toEqual({ ...before[name], max: before[name].max * 7 })
    expect(rateLimits).toEqual(before)
  })

  test('of 0 switches the limits off', () => {
    expect(scaled(rateLimits, 0)).toBeNull()
  })

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('of %p is refused by the name of its variable', (factor) => {
    expect(() => scaled(rateLimits, factor)).toThrow(`RATE_LIMIT_SCALE must be a number from 0 (off) upwards`)
  })
})

describe('the refusal of a rate limit', () => {
  test.each([
    [
      rateLimits.submit,
      30,
      'Rate limit exceeded. 0/10 requests remaining. Try again in 30 seconds. The limit submit is 10 within any minute for each user, API key or address; its oldest request stops counting then. The operator changes it with RATE_LIMIT_SCALE.'
    ],
    [
      rateLimits.signInFailed,
      1,
      'Rate limit exceeded. 0/10 requests remaining. Try again in 1 second. The limit signInFailed is 10 within any 15 minutes for each e-mail address; its oldest request stops counting then. The operator changes it with RATE_LIMIT_SCALE.'
    ],
    [
      rateLimits.submitTeam,
      43_201,
      'Rate limit exceeded. 0/100 requests remaining. Try again in 43201 seconds. The limit submitTeam is 100 within any 24 hours for each team; its oldest request stops counting then, in 12 h 1 min. The operator changes it with RATE_LIMIT_SCALE.'
    ]
  ])('names the limit, its window, the wait and the setting', (limit, seconds, message) => {
    expect(rateLimitRefusalBody(limit, seconds)).toEqual({ message, fields: { retryAfterSeconds: seconds } })
  })

  test.each([
    [0, 1],
    [1, 1],
    [999_999, 1],
    [1_000_000, 1],
    [1_000_001, 2],
    [29_000_001, 30],
    [86_400_000_000, 86_400]
  ])('rounds %p microseconds up to %p s', (microseconds, seconds) => {
    expect(wholeSeconds(microseconds)).toBe(seconds)
  })
})
