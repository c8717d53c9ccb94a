// What an error looks like in the log, and a log on a full disk.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { DrizzleQueryError } from 'drizzle-orm'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { createLog, logOptions } from '../../../services/telemetry/log.js'

const CANARY = 'canary-8d21b6'

function logged(fields: object): string {
  const lines: string[] = []
  const stream = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(`${chunk}`)) })
  pino(logOptions, stream).error(fields, 'it failed')
  return lines.join('')
}

test('an error is logged with its type, code, message and frames, and those of its causes', () => {
  const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' })
  const { err } = JSON.parse(logged({ err: new TypeError('no answer', { cause }) }))
  expect(err).toMatchObject({ type: 'TypeError', message: 'no answer', cause: { code: 'ECONNREFUSED' } })
  expect(err.stack).toMatch(/^ {4}at .*log\.test/)
})

test("a field that a library attaches to an error, or to an error's cause, is not logged", () => {
  const attached = { detail: CANARY, parameters: [CANARY], body: { deep: CANARY } }
  const error = Object.assign(new Error('x'), attached, { cause: Object.assign(new Error('y'), attached) })
  const circle = Object.assign(new Error('z'), { cause: error })
  Object.assign(error.cause as Error, { cause: circle })
  expect(logged({ err: error })).not.toContain(CANARY)
})

test("drizzle's own error is logged as its query without the parameters, also where one looks like a stack", () => {
  const fault = Object.assign(new Error('terminating'), { code: '57P01', detail: CANARY })
  const line = logged({ err: new DrizzleQueryError('insert into t values ($1)', [`a\n    at ${CANARY}`], fault) })
  expect(line).not.toContain(CANARY)
  expect(JSON.parse(line).err).toMatchObject({ query: 'insert into t values ($1)', cause: { code: '57P01' } })
})

test('an error about invalid JSON does not quote the text', () => {
  const parse = () => {
    try {
      return JSON.parse(CANARY)
    } catch (err) {
      return err
    }
  }
  expect(logged({ err: parse() })).not.toContain('canary')
})

test('the password of Redis is in no line about a refused connection', async () => {
  const url = new URL(process.env.TEST_REDIS_URL!)
  url.password = CANARY
  const redis = new Redis(url.href, { lazyConnect: true, retryStrategy: () => null })
  const refused = await new Promise((resolve) => {
    redis.on('error', resolve)
    redis.connect().catch(() => {})
  })
  redis.disconnect()
  expect(logged({ err: refused })).toContain('WRONGPASS')
  expect(logged({ err: refused })).not.toContain(CANARY)
})

test('a line has its time as ISO 8601, its level as a word, its process, and fields in snake case', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'qjs-log-')), 'log')
  const fd = openSync(file, 'a')
  const log = createLog('worker', 'info', fd)
  log.warn({ jobId: 'j', teamId: 't', err: new Error('no') }, 'a line')
  closeSync(fd)
  const line = readFileSync(file, 'utf8')
  rmSync(dirname(file), { recursive: true })
  expect(JSON.parse(line)).toMatchObject({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    level: 'warn',
    process: 'worker',
    job_id: 'j',
    team_id: 't',
    err: { type: 'Error', message: 'no' },
    msg: 'a line'
  })
})

test('a full disk costs lines and does not stop the process', () => {
  const full = openSync('/dev/full', 'w')
  const log = createLog('api', 'info', full)
  for (let line = 0; line < 2_000; line++) log.info({ text: 'x'.repeat(1_000) }, 'a line')
  closeSync(full)
})
