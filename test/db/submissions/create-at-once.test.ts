// The statement that records most jobs: it leaves the same rows as the longer way, or none.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { findBackend } from '../../../db/backends/backends.js'
import { newId } from '../../../db/ids.js'
import { claimKey, findStoredResponse, type KeyedAnswer, storeResponse } from '../../../db/service/idempotency-keys.js'
import { createJobAtOnce } from '../../../db/submissions/create-at-once.js'
import { createJob, submissionBytes } from '../../../db/submissions/create-job.js'
import { setStorageLimit, storageOf } from '../../../db/teams/team-storage.js'
import { lockTeamForWrite } from '../../../db/teams/teams.js'
import { paramsFromValue } from '../../../domain/jobs/params/params.js'
import type { Submission } from '../../../domain/jobs/submission.js'
import { eventually } from '../../support/eventually.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { addPerson, addTeam, everythingAbout, type Person } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('create_at_once', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const backend = (await findBackend(db, 'local'))!
let person: Person
let teamId: string
beforeEach(async () => {
  person = await addPerson(db)
  teamId = await addTeam(db, person)
})

const bell: Submission = {
  source: { kind: 'inline', framework: 'openqasm', text: bellQasm3() },
  backend: 'local',
  params: paramsFromValue({ shots: 100 }),
  mode: 'temporal',
  teamId: null,
  name: null,
  labels: [],
  timeoutSeconds: 60,
  maxCost: null,
  notBefore: null,
  circuitCount: 1,
  notify: null
}

const origin = { requestId: 'request-1', traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }

const atOnce = (submission: Submission, keyed: KeyedAnswer | null = null, { id = newId(), by = person } = {}) =>
  createJobAtOnce(
    db,
    { ...submission, teamId, id, estimate: 0n },
    { owner: { userId: by.userId, keyId: null }, backend, ...origin },
    keyed
  )

const theLongWay = (submission: Submission): Promise<string> =>
  db.transaction(async (tx) => {
    const caller = { ...person, key: null }
    await lockTeamForWrite(tx, caller, teamId)
    return createJob(tx, { ...submission, teamId }, { caller, backend, at: new Date(), ...origin })
  })

/** All rows of a job, without its id and without what the clock made. */
async function rowsOf(id: string): Promise<unknown> {
  const text = JSON.stringify(await everythingAbout(db, id)).replaceAll(id, 'the job')
  return JSON.parse(text, (name, value) => (/_at$|^at$/.test(name) && name !== 'due_at' && value ? 'a time' : value))
}

const answerUnder = (key: string, more: Partial<KeyedAnswer> = {}): KeyedAnswer => ({
  principal: `user:${person.userId}`,
  key,
  method: 'POST',
  path: '/api/jobs/submit',
  bodySha256: 'ab',
  status: 201,
  body: '{"job_id":"x"}',
  patienceMs: 100,
  ...more
})

const stored = async () => {
  const [counts] = await db.execute(sql`select (select count(*)::int from jobs where team_id = ${teamId}) as jobs,
    (select count(*)::int from outbox where team_id = ${teamId}) as messages,
    (select count(*)::int from idempotency_keys where principal = ${`user:${person.userId}`}) as keys`)
  return counts
}
const nothing = { jobs: 0, messages: 0, keys: 0 }

describe('a job that is recorded at once has the rows of one that is recorded the long way:', () => {
  const notBefore = new Date('2032-03-04T05:06:07.089Z')
  test.each<[string, Partial<Submission>]>([
    ['a program', {}],
    ['a direct job', { mode: 'direct' }],
    ['a circuit', { source: { kind: 'circuit', format: 'qasm3', text: bellQasm3() } }],
    ['a name, labels and a cap', { name: "Bell's 🔑", labels: ['a', '"b"'], maxCost: 5_000_000n }],
    ['a later start', { notBefore }],
    ['a capsule', { capsule: { name: 'kept' } }],
    ['a sweep', { params: paramsFromValue({ shots: 3, points: [{}, { shots: 4 }] }), circuitCount: 2 }],
    [
      'a native program',
      {
        source: { kind: 'inline', framework: 'marqov', text: 'x = 1' },
        native: { model: 'managed', entrypoint: 'run', input: '[1.0]' } as unknown as Submission['native']
      }
    ],
    ['a choice', { choice: { reason: 'the cheapest' } as unknown as Submission['choice'] }]
  ])('%s', async (_what, changes) => {
    const submission = { ...bell, ...changes }
    const id = newId()
    expect(await atOnce(submission, null, { id })).toBe(true)
    const long = (await rowsOf(await theLongWay(submission))) as { rest: unknown[] }
    const short = (await rowsOf(id)) as { rest: unknown[] }
    if (changes.notBefore === undefined) for (const rows of [long, short]) expect(dueTimes(rows)).toHaveLength(1)
    expect(withoutDueTimes(short, changes)).toEqual(withoutDueTimes(long, changes))
    expect(short.rest.flat()).not.toEqual([])
  })

  const dueTimes = (rows: unknown) => [...JSON.stringify(rows).matchAll(/"due_at":"([^"]+)"/g)].map(([, at]) => at)
  /** A start that is due at once has the time of its statement. */
  const withoutDueTimes = (rows: unknown, { notBefore: set }: Partial<Submission>): unknown =>
    set ? rows : JSON.parse(JSON.stringify(rows).replaceAll(/"due_at":"[^"]+"/g, '"due_at":"now"'))
})

describe('nothing is written', () => {
  test('for a team that is suspended', async () => {
    await db.execute(sql`update teams set suspended_at = now() where id = ${teamId}`)
    expect(await atOnce(bell, answerUnder('a'))).toBe(false)
    expect(await stored()).toEqual(nothing)
  })

  test('for a user who does not belong to the team', async () => {
    const stranger = await addPerson(db)
    expect(await atOnce(bell, answerUnder('a'), { by: stranger })).toBe(false)
    expect(await stored()).toEqual(nothing)
  })

  test('for a team that lacks a byte of the space that it needs, and not one byte sooner', async () => {
    const { used } = await storageOf(db, teamId)
    const needed = used + submissionBytes(bell)
    await db.transaction((tx) => setStorageLimit(tx, teamId, needed - 1))
    expect(await atOnce(bell, answerUnder('a'))).toBe(false)
    expect(await stored()).toEqual(nothing)
    await db.transaction((tx) => setStorageLimit(tx, teamId, needed))
    expect(await atOnce(bell, answerUnder('a'))).toBe(true)
  })

  test('under a key that was used before', async () => {
    expect(await atOnce(bell, answerUnder('a'))).toBe(true)
    expect(await atOnce(bell, answerUnder('a', { body: '{"job_id":"y"}' }))).toBe(false)
    expect(await stored()).toEqual({ jobs: 1, messages: 1, keys: 1 })
  })

  test('when its last row is refused', async () => {
    await db.execute(sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$`)
    await db.execute(sql`create trigger refuse before insert on outbox for each row execute function refuse()`)
    try {
      await expect(atOnce(bell, answerUnder('a'))).rejects.toThrow('Failed query')
    } finally {
      await db.execute(sql`drop trigger refuse on outbox`)
      await db.execute(sql`drop function refuse`)
    }
    expect(await stored()).toEqual(nothing)
  })
})

test('the key has the row that the long way writes', async () => {
  const rowOf = (key: string) => findStoredResponse(db, { principal: `user:${person.userId}`, key }, person.userId)
  expect(await atOnce(bell, answerUnder('short'))).toBe(true)
  const { status, body, patienceMs: _, ...write } = answerUnder('long')
  await db.transaction(async (tx) => {
    expect(await claimKey(tx, write, 100)).toBe('mine')
    await storeResponse(tx, write, { status, body, teamId, userId: person.userId })
  })
  const rows = await db.execute(
    sql`select method, path, body_sha256, status, body, team_id from idempotency_keys where team_id = ${teamId}`
  )
  expect(rows).toHaveLength(2)
  expect(rows[0]).toEqual(rows[1])
  expect(await rowOf('short')).toEqual(await rowOf('long'))
})

/** The statements that wait for a lock. */
const waiting = async (): Promise<number> => {
  const rows = await db.execute(
    sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  )
  return rows.length
}

/** A promise that is kept when `open` is called. */
function gate() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Holds what `take` locks until `release` is called. */
async function holding(take: (tx: Parameters<Parameters<typeof db.transaction>[0]>[0]) => Promise<unknown>) {
  const [taken, over] = [gate(), gate()]
  const done = db.transaction(async (tx) => {
    await take(tx)
    taken.open()
    await over.opened
  })
  await taken.opened
  return async () => {
    over.open()
    await done
  }
}

test('a suspension that is under way is waited for, and then refuses the job', async () => {
  const release = await holding(async (tx) => {
    await lockTeamForWrite(tx, { ...person, key: null }, teamId, 'member', 'update')
    await tx.execute(sql`update teams set suspended_at = now() where id = ${teamId}`)
  })
  const recorded = atOnce(bell, answerUnder('a'))
  await eventually(async () => (await waiting()) === 1)
  await release()
  expect(await recorded).toBe(false)
  expect(await stored()).toEqual(nothing)
})

test('a key that another write holds for longer is left to it', async () => {
  const { status: _, body: __, patienceMs: ___, ...write } = answerUnder('a')
  const release = await holding((tx) => claimKey(tx, write, 1_000))
  expect(await atOnce(bell, answerUnder('a', { patienceMs: 20 }))).toBe(false)
  await release()
  expect((await stored())!.jobs).toBe(0)
})

test('a write that holds the key and waits for the team, behind one that needs it alone, does not wait for ever', async () => {
  const { status: _, body: __, patienceMs: ___, ...write } = answerUnder('a')
  const caller = { ...person, key: null }
  const [entered, going] = [gate(), gate()]
  const withKey = db.transaction(async (tx) => {
    expect(await claimKey(tx, write, 1_000)).toBe('mine')
    entered.open()
    await going.opened
    await lockTeamForWrite(tx, caller, teamId)
  })
  await entered.opened
  // Has the team, and waits for the key for less time than Postgres takes to look for a deadlock.
  let isOver = false
  const short = atOnce(bell, answerUnder('a', { patienceMs: 900 })).finally(() => {
    isOver = true
  })
  await eventually(async () => isOver || (await waiting()) >= 1)
  const alone = db.transaction((tx) => lockTeamForWrite(tx, caller, teamId, 'member', 'update'))
  await eventually(async () => isOver || (await waiting()) >= 2)
  going.open()
  expect(await short).toBe(false)
  await Promise.all([withKey, alone])
})

test('twenty at once with one key record one job', async () => {
  const key = randomUUID()
  const recorded = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      atOnce(bell, answerUnder(key, { body: `{"job_id":"${at}"}`, patienceMs: 5_000 }))
    )
  )
  expect(recorded.filter(Boolean)).toHaveLength(1)
  expect(await stored()).toEqual({ jobs: 1, messages: 1, keys: 1 })
})
