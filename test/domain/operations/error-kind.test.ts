import { describe, expect, test } from '@jest/globals'
import { ServiceError } from '../../../domain/errors.js'
import { errorKind, pauseMs } from '../../../domain/operations/error-kind.js'

const withCode = (code: string, cause?: unknown) => Object.assign(new Error('x', { cause }), { code })
const wrapped = (code: string) => new Error('Failed query', { cause: withCode(code) })

describe('an error of a step is sorted', () => {
  test.each([
    ...['ECONNREFUSED', 'ECONNRESET', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT', 'CONNECTION_ENDED', 'ENOTFOUND'],
    // A certificate that has expired, or is for another name; a server without TLS.
    ...['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'EPROTO'],
    // Too many connections, disk full, shutting down, starting, a standby, a wrong password, no such database.
    ...['08006', '53300', '53100', '57P01', '57P03', '25006', '28P01', '3D000'],
    // A session that said nothing for too long, outside and within a transaction: the process was frozen.
    ...['57P05', '25P03']
  ])('%s: the database is away', (code) => {
    expect(errorKind(withCode(code))).toBe('away')
    expect(errorKind(wrapped(code))).toBe('away')
  })

  test.each(['40001', '40P01', '55P03', '57014'])('%s: a conflict', (code) => {
    expect(errorKind(wrapped(code))).toBe('conflict')
  })

  test.each(['22P02', '23505', '23514', '42P01', '42501', 'XX000', 'P0001'])('%s: a fault', (code) => {
    expect(errorKind(wrapped(code))).toBe('fault')
  })

  test.each([
    ['a refusal of our own', new ServiceError('internal_error', 'cannot be opened')],
    ['a mistake in the program', new TypeError('x is not a function')],
    ['a text', 'no'],
    ['nothing', undefined]
  ])('%s: a fault', (_name, error) => {
    expect(errorKind(error)).toBe('fault')
  })

  test('causes that form a loop come to an end', () => {
    const loop = new Error('x') as Error & { cause: unknown }
    loop.cause = loop
    expect(errorKind(loop)).toBe('fault')
  })
})

test('the pauses before further tries grow to half a minute, and differ between jobs', () => {
  const pauses = Array.from({ length: 12 }, (_, at) => [pauseMs(at + 1, 0), pauseMs(at + 1, 1)])
  expect(pauses.slice(0, 3)).toEqual([
    [100, 200],
    [200, 400],
    [400, 800]
  ])
  expect(pauses.at(-1)).toEqual([15_000, 30_000])
  expect(pauseMs(100_000, 1)).toBe(30_000)
})
