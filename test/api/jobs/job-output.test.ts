// What a program prints, as the event stream of its job sends it.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { beginJob, recordCancelled } from '../../../db/job-steps/job-steps.js'
import { openAttempt } from '../../../db/jobs/attempts.js'
import { appendOutput } from '../../../db/jobs/job-events.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('job_output')
const { db } = api.database
let ada: TestUser
beforeAll(async () => {
  ada = await api.signUp()
  await api.listen()
})
afterAll(() => api.close())

const fence = { generation: 1 }
const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** A running job with an open attempt. */
async function running(): Promise<string> {
  const id = await ada.submit(submission({ execution_mode: 'temporal' }))
  await beginJob(db, id, fence)
  await openAttempt(db, id, fence)
  return id
}
async function prints(id: string, text: string, offset: number, dropped = 0): Promise<void> {
  const end = offset + Buffer.byteLength(text)
  const part = { text, offset, end, dropped }
  expect(await appendOutput(db, { jobId: id, task: '', number: 1 }, { bytes: offset, dropped: 0 }, part)).toBe('stored')
  api.announce(id)
}
async function end(id: string): Promise<void> {
  await recordCancelled(db, id, fence, 'stopped_before_provider')
  api.announce(id)
}
const events = (text: string) =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('id:'))
    .map((frame) => {
      const [id, event, data] = frame.split('\n').map((line) => line.slice(line.indexOf(':') + 2))
      return { id: Number(id), event, data: JSON.parse(data!) }
    })

describe('the output of a program', () => {
  test('is sent as it is printed, before the final status, with its attempt and its place', async () => {
    const id = await running()
    const before = api.waitingPolls()
    const streaming = ada.get(`/api/jobs/${id}/events`)
    await eventually(() => api.waitingPolls() > before)
    await prints(id, 'one\n\u001b[2J€', 0)
    await prints(id, 'two', 11, 70_000)
    await end(id)
    const sent = events((await streaming).text)
    expect(sent.map(({ id: number }) => number)).toEqual(sent.map((_, place) => place + 1))
    expect(sent.filter(({ event }) => event === 'output').map(({ data }) => data)).toEqual([
      { seq: 4, type: 'output', attempt: 1, text: 'one\n\u001b[2J€', offset: 0, at },
      { seq: 5, type: 'output', attempt: 1, text: 'two', offset: 11, truncated_bytes: 70_000, at }
    ])
    expect(sent.at(-1)!.data).toMatchObject({ type: 'status', status: 'cancelled' })
  })

  test('continues after any of its events, without loss and without repetition', async () => {
    const id = await running()
    const lines = Array.from({ length: 60 }, (_, line) => `${line}`.padStart(5_000, '.'))
    for (const [line, text] of lines.entries()) await prints(id, text, line * 5_000)
    await end(id)
    const whole = events((await ada.get(`/api/jobs/${id}/events`)).text)
    expect(whole.flatMap(({ data }) => data.text ?? []).join('')).toBe(lines.join(''))
    for (const last of [3, 4, 30, 63, whole.at(-1)!.id]) {
      const answer = await ada.ask('GET', `/api/jobs/${id}/events`, undefined, { 'last-event-id': `${last}` })
      expect(events(answer.text)).toEqual(whole.slice(last))
    }
  })

  test('is sent as far as it is there when nothing is to be followed', async () => {
    const id = await running()
    await prints(id, 'one', 0)
    const { status, text } = await ada.get(`/api/jobs/${id}/events?follow=false`)
    expect(status).toBe(200)
    expect(events(text).map(({ event }) => event)).toEqual(['status', 'status', 'attempt', 'output'])
    expect((await ada.get(`/api/jobs/${id}/events?follow=maybe`)).status).toBe(400)
    await end(id)
  })

  test('is hidden from other teams like the job itself', async () => {
    const id = await running()
    await prints(id, 'a canary', 0)
    const bob = await api.signUp()
    for (const query of ['', '?follow=false']) {
      const { status, text } = await bob.get(`/api/jobs/${id}/events${query}`)
      expect([status, text.includes('canary')]).toEqual([404, false])
    }
    await end(id)
  })
})
