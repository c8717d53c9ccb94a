// ?wait= delays a response until the status changes. The tests use sockets, since they are about connections.
import { Agent, get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect } from '../../../db/client.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { createJobAnnouncer } from '../../../db/jobs/job-changes.js'
import { type ApiResponse, responseOf, startApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('job_waits')
const { url } = api.database
const agent = new Agent({ keepAlive: true, maxSockets: 50 })
// Writes and notifications of another process.
const elsewhere = connect(url, { max: 2 })
const announce = createJobAnnouncer(elsewhere.db)
/** Less than the waits of 20 and 22 seconds that the tests expect to end early, and more than a busy machine needs. */
const LONG_MS = 17_000
afterAll(async () => {
  agent.destroy()
  await elsewhere.close()
  await api.close()
})

let base: string
let ada: TestUser
beforeAll(async () => {
  base = await api.listen()
  ada = await api.signUp()
})

interface Poll {
  answer: Promise<ApiResponse>
  elapsed(): number
  hangUp(): void
}

function poll(id: string, wait: string, options: { at?: string; agent?: Agent } = {}): Poll {
  const began = performance.now()
  let hangUp = () => {}
  const answer = new Promise<ApiResponse>((resolve, reject) => {
    const request = get(
      `${options.at ?? base}/api/jobs/${id}/status?wait=${wait}`,
      { headers: { cookie: ada.cookie }, agent: options.agent ?? agent },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve(responseOf(response.statusCode!, response.headers, text)))
      }
    )
    request.on('error', reject)
    hangUp = () => request.destroy()
  })
  return { answer, elapsed: () => performance.now() - began, hangUp }
}

/** How many requests have begun to wait. */
let begun = 0
const { listener } = api.deps
const { on } = listener
listener.on = (...watched) => {
  begun++
  return on(...watched)
}

const untilHeld = (polls: number) => eventually(() => api.waitingPolls() === polls)

describe('a wait', () => {
  test.each(['', '0', '-5', '1.5', 'x', '1e1', '%2B5', '0x10', 'Infinity', '5&wait=5', '9999999999'])(
    'of %p is ignored, and the response comes at once',
    async (wait) => {
      const id = await ada.submit(submission())
      const before = begun
      const answer = await poll(id, wait).answer
      expect([answer.status, answer.body.status]).toEqual([200, 'pending'])
      expect(begun).toBe(before)
    }
  )

  test('lasts as long as requested when nothing changes', async () => {
    const held = poll(await ada.submit(submission()), '1')
    expect((await held.answer).body.status).toBe('pending')
    expect(held.elapsed()).toBeGreaterThan(990)
    expect(held.elapsed()).toBeLessThan(LONG_MS)
  })

  test('on a finished job ends at once', async () => {
    const id = await ada.submit(submission())
    await ada.post(`/api/jobs/${id}/cancel`)
    const held = poll(id, '22')
    expect((await held.answer).body.status).toBe('cancelled')
    expect(held.elapsed()).toBeLessThan(LONG_MS)
  })

  test('ends as soon as another process changes the job and notifies', async () => {
    // Without the notification, each would end with the next read, after five seconds. A busy machine can need as long.
    await eventually(async () => {
      const id = await ada.submit(submission())
      const held = [poll(id, '20'), poll(id, '20'), poll(id, '999')]
      await untilHeld(3)
      await beginJob(elsewhere.db, id, { generation: 1 })
      announce(id)
      const ends = held.map(async ({ answer, elapsed }) => [(await answer).body.status, elapsed() < 4_000])
      expect(await Promise.all(ends)).toEqual(Array(3).fill(['running', true]))
      return true
    })
  })

  test('ends within seconds when the notification is lost', async () => {
    const id = await ada.submit(submission())
    const held = poll(id, '20')
    await untilHeld(1)
    await beginJob(elsewhere.db, id, { generation: 1 })
    expect((await held.answer).body.status).toBe('running')
    expect(held.elapsed()).toBeLessThan(LONG_MS)
  })

  test('gets notifications again after the listening connection was cut', async () => {
    const id = await ada.submit(submission())
    const held = poll(id, '20')
    await untilHeld(1)
    await elsewhere.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen%'`
    await beginJob(elsewhere.db, id, { generation: 1 })
    expect((await held.answer).body.status).toBe('running')
    expect(held.elapsed()).toBeLessThan(LONG_MS)
  })

  test('ignores notifications about other jobs, and changes that do not affect the status', async () => {
    const id = await ada.submit(submission())
    const held = poll(id, '1')
    await untilHeld(1)
    const other = await ada.submit(submission())
    await ada.post(`/api/jobs/${other}/cancel`)
    await elsewhere.db.execute(sql`update jobs set updated_at = now() where id = ${id}`)
    announce(id)
    expect((await held.answer).body.status).toBe('pending')
    expect(held.elapsed()).toBeGreaterThan(990)
  })
})

test('a user can have a hundred waiting requests; one more gets the status at once', async () => {
  const id = await ada.submit(submission({ not_before: new Date(Date.now() + 3_600_000).toISOString() }))
  const many = new Agent({ keepAlive: true, maxSockets: 101 })
  const polls = Array.from({ length: 100 }, () => poll(id, '20', { agent: many }))
  try {
    await untilHeld(100)
    const more = poll(id, '20', { agent: many })
    expect((await more.answer).body.status).toBe('pending')
    expect(more.elapsed()).toBeLessThan(LONG_MS)
  } finally {
    for (const { hangUp, answer } of polls) {
      answer.catch(() => {})
      hangUp()
    }
  }
  await untilHeld(0)
  many.destroy()
})

test('many polls over one kept connection leave nothing behind on it', async () => {
  const one = new Agent({ keepAlive: true, maxSockets: 1 })
  const sockets = new Set<Socket>()
  const note = (request: IncomingMessage) => sockets.add(request.socket)
  api.app.server.on('request', note)
  const listeners: number[] = []
  for (let times = 0; times < 13; times++) {
    const id = await ada.submit(submission())
    const held = poll(id, '20', { agent: one })
    await untilHeld(1)
    await ada.post(`/api/jobs/${id}/cancel`)
    expect((await held.answer).body.status).toBe('cancelled')
    listeners.push([...sockets][0]!.listenerCount('close'))
  }
  api.app.server.off('request', note)
  one.destroy()
  expect(sockets.size).toBe(1)
  expect(listeners).toEqual(Array(13).fill(listeners[0]))
})

test('a disconnected client is forgotten at once', async () => {
  const own = new Agent({ keepAlive: false })
  const held = poll(await ada.submit(submission()), '20', { agent: own })
  await untilHeld(1)
  held.hangUp()
  await expect(held.answer).rejects.toThrow()
  await eventually(() => api.waitingPolls() === 0, { timeoutMs: LONG_MS })
})

test('every waiting poll gets the current status when the API closes, before its wait is over', async () => {
  const closing = await startApi('job_waits_closing', { database: api.database })
  const at = await closing.listen()
  const id = await ada.submit(submission())
  const own = new Agent({ keepAlive: true })
  const held = Array.from({ length: 20 }, () => poll(id, '22', { at, agent: own }))
  await eventually(() => closing.waitingPolls() === 20)
  const began = performance.now()
  const closed = closing.close()
  for (const { answer } of held) {
    const { status, body } = await answer
    expect([status, body.id, body.status]).toEqual([200, id, 'pending'])
  }
  await closed
  expect(performance.now() - began).toBeLessThan(LONG_MS)
  own.destroy()
})
