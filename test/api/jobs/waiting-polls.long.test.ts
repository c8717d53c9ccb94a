// A thousand requests that wait at one API process: all are woken, with little load on the database. Over sockets.
import { Agent, get } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { POOL_MAX } from '../../../apps/api/config.js'
import { connect } from '../../../db/client.js'
import { createJobAnnouncer } from '../../../db/jobs/job-changes.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'

// Held for 22 seconds at most; one whose time is over before the last is accepted is asked again, as clients do.
const POLLS = 1_000
const STREAMS = 500
const CONNECTIONS_MAX = 10
/** Each user can have 20 streams open, and 100 waiting status requests. */
const USERS = 25

const api = await startApi('held_polls', { poolMax: POOL_MAX })
const agent = new Agent({ keepAlive: true, maxSockets: POLLS + STREAMS })
// Writes and notifications of another process, on the only other connection to this database.
const elsewhere = connect(api.database.url, { max: 1 })
const announce = createJobAnnouncer(elsewhere.db)
afterAll(async () => {
  agent.destroy()
  await elsewhere.close()
  await api.close()
})

let base: string
let ada: TestUser
const cookies: string[] = []
let asked = 0
let most = 0
const others = new Set<number>()

beforeAll(async () => {
  base = await api.listen()
  ada = await api.signUp()
  const members = [ada]
  // One after the other, since the test's own connections would be counted as the API's.
  for (let at = 1; at < USERS; at++) members.push(await api.signUp())
  const id = await ada.submit(submission())
  for (const { id: userId, cookie } of members) {
    cookies.push(cookie)
    await elsewhere.sql`insert into members (team_id, user_id, role)
      select team_id, ${userId}, 'member' from jobs where id = ${id} on conflict do nothing`
  }
  // Connections of the test itself are not counted as the API's.
  for (const { pid } of await api.database.sql<{ pid: number }[]>`select pg_backend_pid() as pid`) others.add(pid)
})

const ask = (path: string, onText: (text: string) => void): Promise<string> =>
  new Promise((resolve, reject) => {
    get(`${base}${path}`, { headers: { cookie: cookies[asked++ % USERS]! }, agent }, (response) => {
      let all = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        all += text
        onText(all)
      })
      response.on('end', () => resolve(all))
    }).on('error', reject)
  })

async function countConnections(): Promise<void> {
  const rows = await elsewhere.sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
  most = Math.max(most, rows.filter(({ pid }) => !others.has(pid)).length)
}

/** Inserts waiting jobs like a submitted one. */
async function waitingJobs(count: number): Promise<string[]> {
  const id = await ada.submit(submission())
  const rows = await elsewhere.sql<{ id: string }[]>`
    insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid()))).*
    from jobs j, generate_series(1, ${count}::int) where j.id = ${id} returning id`
  return rows.map((row) => row.id)
}

/** Writes a status with its event, and notifies all listeners. */
async function move(ids: string[], status: string): Promise<void> {
  await elsewhere.sql`
    with moved as (update jobs set status = ${status}, event_seq = event_seq + 1
        where id = any(string_to_array(${ids.join(',')}, ',')::uuid[]) returning id, event_seq)
    insert into job_events (job_id, seq, type, status) select id, event_seq, 'status', ${status} from moved`
  for (const id of ids) announce(id)
}

const until = (count: number, done: () => number) =>
  eventually(
    async () => {
      await countConnections()
      return done() === count
    },
    { timeoutMs: 60_000, everyMs: 50, message: () => `${done()} of ${count}` }
  )

test('1,000 waiting status requests all get a response when their jobs change, over ten connections at most', async () => {
  const ids = await waitingJobs(POLLS)
  const answers: string[] = []
  const poll = async (id: string): Promise<unknown> => {
    const text = await ask(`/api/jobs/${id}/status?wait=22`, () => {})
    return JSON.parse(text).status === 'pending' ? poll(id) : answers.push(text)
  }
  const polls = ids.map(poll)
  await until(POLLS, () => api.waitingPolls())
  expect(answers).toEqual([])
  await move(ids, 'running')
  await until(POLLS, () => answers.length)
  await Promise.all(polls)
  expect(new Set(answers.map((text) => JSON.parse(text).status))).toEqual(new Set(['running']))
  expect(most).toBeLessThanOrEqual(CONNECTIONS_MAX)
}, 120_000)

test('500 event streams get every change, over ten connections at most', async () => {
  const ids = await waitingJobs(STREAMS)
  const seen = new Map<string, string>()
  const streams = ids.map((id) => ask(`/api/jobs/${id}/events`, (text) => seen.set(id, text)))
  await until(STREAMS, () => api.waitingPolls())
  await move(ids, 'running')
  await until(STREAMS, () => [...seen.values()].filter((text) => text.includes('"running"')).length)
  await move(ids, 'completed')
  const stories = await Promise.all(streams)
  for (const story of stories) {
    expect(story).toMatch(
      /id: 2\nevent: status\ndata: .*"running".*\n\nid: 3\nevent: status\ndata: .*"completed".*\n\n$/s
    )
  }
  expect(most).toBeLessThanOrEqual(CONNECTIONS_MAX)
}, 120_000)
