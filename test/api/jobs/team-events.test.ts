// GET /api/events: members hear what changes in their teams, and nobody else does.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { createTeamFeed, RESYNC } from '../../../apps/api/jobs/feed/team-feed.js'
import { newId } from '../../../db/ids.js'
import type { ChangeWatcher } from '../../../db/jobs/job-changes.js'
import { transition } from '../../../db/jobs/job-transition.js'
import { type Headers, startApi, type TestUser } from '../../support/api/api.js'
import { addCapsuleOfJob } from '../../support/capsules/capsule-rows.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('team_events')
const { db } = database
const api = await startApi('team_events', { database, streamTimes: { beatMs: 200 } })
afterAll(async () => {
  await api.close()
  await database.drop()
})

let base: string
beforeAll(async () => {
  base = await api.listen()
})

interface Heard {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape.
  data: any
}

/** An open stream, and what has come so far. */
async function listen(headers: Headers, url = base) {
  const request = get(`${url}/api/events`, { headers })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  let ended = false
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  response.on('close', () => {
    ended = true
  })
  const heard = (): Heard[] =>
    text
      .split('\n\n')
      .filter((frame) => frame.startsWith('event:'))
      .map((frame) => {
        const [event, data] = frame.split('\n').map((line) => line.slice(line.indexOf(':') + 2))
        return { event: event!, data: JSON.parse(data!) }
      })
  if (response.statusCode === 200) await eventually(() => heard().length > 0)
  return {
    status: response.statusCode,
    response,
    heard,
    ofJob: (id: string) => heard().flatMap(({ event, data }) => (event === 'job' && data.job_id === id ? [data] : [])),
    isEnded: () => ended,
    leave: () => request.destroy()
  }
}

const cookie = (user: TestUser): Headers => ({ cookie: user.cookie })

/** Ada and Bob in a team of theirs. */
async function pair() {
  const [ada, bob] = [await api.signUp(), await api.signUp()]
  const { id: teamId } = (await ada.post('/api/teams', { name: 'ours' })).body
  await db.execute(sql`insert into members (team_id, user_id, role) values (${teamId}, ${bob.id}, 'member')`)
  return { ada, bob, teamId: teamId as string }
}

describe('a member', () => {
  test('hears of each new job and of each change of its status, without its content, and an outsider hears nothing', async () => {
    const { ada, bob, teamId } = await pair()
    const [member, outsider] = [await listen(cookie(bob)), await listen(cookie(await api.signUp()))]
    expect(member.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store'
    })
    expect(member.heard()).toEqual([{ event: 'resync', data: {} }])
    const id = await ada.submit(submission({ team_id: teamId, name: 'a secret name' }))
    await eventually(() => member.ofJob(id).length > 0)
    const { queue } = (await ada.get(`/api/jobs/${id}`)).body
    expect(member.ofJob(id)).toEqual([
      { job_id: id, team_id: teamId, status: 'pending', queue, at: expect.stringMatching(/Z$/) }
    ])
    await ada.post(`/api/jobs/${id}/cancel`)
    await eventually(() => member.ofJob(id).length > 1)
    expect(member.ofJob(id)[1]).toMatchObject({ status: 'cancelled', queue: null })
    expect(outsider.heard()).toHaveLength(1)
    for (const stream of [member, outsider]) stream.leave()
  })

  test('hears a state once, however often its job is announced', async () => {
    const { ada, bob, teamId } = await pair()
    const [stream, later] = [await listen(cookie(bob)), await ada.submit(submission({ team_id: teamId }))]
    await eventually(() => stream.ofJob(later).length > 0)
    for (let count = 0; count < 20; count++) api.announce(later)
    const other = await ada.submit(submission({ team_id: teamId }))
    await eventually(() => stream.ofJob(other).length > 0)
    expect(stream.ofJob(later)).toHaveLength(1)
    stream.leave()
  })

  test('who was removed does not hear the next event, on the same stream', async () => {
    const { ada, bob, teamId } = await pair()
    const [removed, stays] = [await listen(cookie(bob)), await listen(cookie(ada))]
    const first = await ada.submit(submission({ team_id: teamId }))
    await eventually(() => removed.ofJob(first).length > 0)
    expect((await ada.ask('DELETE', `/api/team/members/${bob.id}`, { team_id: teamId })).status).toBe(200)
    const second = await ada.submit(submission({ team_id: teamId }))
    await eventually(() => stays.ofJob(second).length > 0)
    expect(removed.ofJob(second)).toEqual([])
    expect(removed.isEnded()).toBe(false)
    for (const stream of [removed, stays]) stream.leave()
  })

  test('hears of runs of capsules and of their jobs', async () => {
    const ada = await api.signUp()
    const { id: teamId } = (await ada.post('/api/teams', { name: 'runs' })).body
    const capsule = await addCapsuleOfJob(db, { userId: ada.id, email: ada.email }, teamId)
    const stream = await listen(cookie(ada))
    const run = (await ada.post(`/api/capsules/${capsule}/run`, { mode: 'template' })).body
    const runs = () => stream.heard().filter(({ event }) => event === 'capsule_run')
    await eventually(() => runs().length > 0 && stream.ofJob(run.job_id).length > 0)
    expect(runs()).toEqual([
      {
        event: 'capsule_run',
        data: {
          capsule_run_id: run.capsule_run_id,
          capsule_id: capsule,
          team_id: teamId,
          status: 'pending',
          verdict: null,
          at: expect.stringMatching(/Z$/)
        }
      }
    ])
    stream.leave()
  })

  test('with a key hears of the team of the key alone', async () => {
    const { ada, teamId } = await pair()
    const made = await ada.post('/api/team/api-keys', { team_id: teamId, name: 'k', tier: 'read', kind: 'test' })
    const stream = await listen({ authorization: `Bearer ${made.body.key}` })
    const elsewhere = await ada.submit(submission())
    const here = await ada.submit(submission({ team_id: teamId }))
    await eventually(() => stream.ofJob(here).length > 0)
    expect(stream.ofJob(elsewhere)).toEqual([])
    stream.leave()
  })
})

describe('a stream', () => {
  test('ends when its session ends', async () => {
    const ada = await api.signUp()
    const stream = await listen(cookie(ada))
    await ada.post('/api/auth/sign-out')
    await eventually(() => stream.isEnded())
  })

  test('ends when the service stops', async () => {
    const own = await startApi('team_events_stops', { database })
    const stream = await listen(cookie(await own.signUp()), await own.listen())
    await own.close()
    await eventually(() => stream.isEnded())
  })

  test('with follow=false ends after the resync', async () => {
    const ada = await api.signUp()
    expect((await ada.get('/api/events?follow=false')).text).toBe(RESYNC)
  })

  test('is one of twenty of its user, those of jobs included', async () => {
    const ada = await api.signUp()
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen(cookie(ada))))
    expect(streams.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect((await ada.get('/api/events')).status).toBe(429)
    for (const stream of streams) stream.leave()
    await eventually(async () => (await ada.get('/api/events?follow=false')).status === 200)
  })
})

describe('the feed of a process', () => {
  /** A feed whose notifications the test makes, and which counts its statements. */
  function feedOf() {
    let watcher: ChangeWatcher | null = null
    let statements = 0
    const counted = new Proxy(db, {
      get: (target, key) => {
        if (key === 'select') statements++
        const value = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      }
    })
    const listener = {
      on: () => () => {},
      onAny(given: ChangeWatcher) {
        watcher = given
        return () => {
          watcher = null
        }
      },
      close: async () => {}
    }
    const feed = createTeamFeed(counted, listener, { warn: () => {} } as never, () => new Date())
    const join = (userId: string) => {
      const joined = feed.join({ userId, teamId: null, wake: () => {} })
      joined.take()
      return joined
    }
    return { join, tell: () => watcher!, watched: () => watcher !== null, statements: () => statements }
  }

  test('asks once for all listeners and all changes of a moment', async () => {
    const { join, tell, watched, statements } = feedOf()
    const ada = await addPerson(db)
    const teamId = await addTeam(db, ada)
    const ids = await Promise.all(Array.from({ length: 10 }, () => addJob(db, ada, { submission: { teamId } })))
    const [one, two] = [join(ada.userId), join(ada.userId)]
    const strangers = await Promise.all(Array.from({ length: 20 }, async () => join((await addPerson(db)).userId)))
    for (const id of ids) tell().job(id)
    let text = ''
    await eventually(() => {
      text += one.take()
      return text !== ''
    })
    expect(ids.map((id) => text.includes(id))).toEqual(ids.map(() => true))
    expect(two.take()).toBe(text)
    expect(strangers.map((stranger) => stranger.take())).toEqual(strangers.map(() => ''))
    expect(statements()).toBe(1)
    for (const joined of [one, two, ...strangers]) joined.leave()
    expect(watched()).toBe(false)
  })

  test('tells listeners to read again after a lost connection, after too many changes, and for one who takes nothing', async () => {
    const { join, tell } = feedOf()
    const ada = await addPerson(db)
    const teamId = await addTeam(db, ada)
    const listener = join(ada.userId)
    tell().missed()
    expect(listener.take()).toBe(RESYNC)
    for (let count = 0; count <= 5_000; count++) tell().job(newId())
    expect(listener.take()).toBe(RESYNC)

    const id = await addJob(db, ada, { submission: { teamId } })
    const [slow, quick] = [join(ada.userId), listener]
    const rows = 1_001
    await db.execute(sql`insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid()))).*
      from jobs j, generate_series(1, ${rows}::int) where j.id = ${id}`)
    const copies = await db.execute<{ id: string }>(sql`select id from jobs where team_id = ${teamId} and id <> ${id}`)
    for (const copy of copies) tell().job(copy.id)
    let taken = ''
    await eventually(() => {
      taken += quick.take()
      return taken.split('event: job').length > rows
    })
    expect(slow.take()).toBe(RESYNC)
    await db.transaction((tx) => transition(tx, id, 'cancelled'))
    tell().job(id)
    await eventually(() => slow.take().includes(id))
    for (const joined of [slow, quick]) joined.leave()
  })
})
