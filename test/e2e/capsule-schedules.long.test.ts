// Schedules of capsules on a whole platform with its own Temporal server: many due in the same minute, while parts are
// down or have lost their data, and while they are being changed. The first test waits for a minute of the clock; the
// others let Temporal catch up on past minutes.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection, type ScheduleClient } from '@temporalio/client'
import { sql } from 'drizzle-orm'
import { CATCH_UP_SECONDS, scheduleIdOf } from '../../domain/verification/schedule-names.js'
import { eventually } from '../support/eventually.js'
import { submission } from '../support/jobs/builders.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

/** The long form: SCHEDULES=500 npm test -- capsule-schedules -t 'while Temporal was away'; a team has 500 such runs a day. */
const CAPSULES = Number(process.env.SCHEDULES ?? 8)
const isLong = CAPSULES > 100
/** To the next minute, plus the time for that many runs. */
const MINUTE = 60_000
const PATIENCE = 120_000 + 2_000 * CAPSULES

const mailDir = mkdtempSync(join(tmpdir(), 'schedule-mails-'))
let platform: Platform
const capsules: string[] = []
let unsteady: string
const begun = Date.now()

beforeAll(async () => {
  platform = await startPlatform(
    'capsule-schedules',
    { temporal: true, executor: { slots: 2 } },
    {
      SCHEDULE_COMPARE_SECONDS: '2',
      SECRETS_KEYS: `test:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`,
      MAIL_DIR: mailDir
    }
  )
  // With a seed, no run finds a difference by chance.
  const jobId = await platform.submit(submission({ params: { shots: 100, seed: 7 } }))
  await platform.ended(jobId)
  unsteady = await seal(jobId)
  await platform.connection.db.transaction(async (tx) => {
    // As if the machine had changed since: it gives counts other than the sealed ones.
    await tx.execute(sql`set local session_replication_role = replica`)
    const content = sql`regexp_replace(convert_from(content, 'utf8'), '"counts": ?[{][^}]*[}]', '"counts":{"01":50,"10":50}')`
    await tx.execute(sql`update capsule_files set content = convert_to(${content}, 'utf8')
      where capsule_id = ${unsteady} and name = 'tasks/main/result.json'`)
    // With a matching digest, since changed evidence is not compared.
    await tx.execute(
      sql`update capsule_files set sha256 = encode(sha256(content), 'hex') where capsule_id = ${unsteady}`
    )
  })
  for (let made = 1; made < CAPSULES; made++) capsules.push(await seal(jobId))
}, PATIENCE)

afterAll(async () => {
  await platform.close()
  rmSync(mailDir, { recursive: true, force: true })
})

interface Answer {
  capsule_id?: string
  engine?: { state: string; reason: string | null }
}

async function answerOf(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await platform.call(method, path, body)
  const answer = (await response.json()) as Answer
  if (response.status >= 400)
    throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

const seal = async (jobId: string): Promise<string> =>
  (await answerOf('POST', '/api/capsules/from-job', { job_id: jobId, seal: true })).capsule_id!

const put = (id: string, body: Record<string, unknown>) => answerOf('PUT', `/api/capsules/${id}/schedule`, body)
const engineOf = async (id: string): Promise<string> =>
  (await answerOf('GET', `/api/capsules/${id}/schedule`)).engine!.state

interface Run {
  capsule_id: string
  trigger: string
  status: string
  verdict: string | null
  scheduled_at: string
}

async function runs(): Promise<Run[]> {
  const rows = await platform.connection.db.execute(sql`select capsule_id, trigger, status, verdict,
    to_char(scheduled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as scheduled_at from capsule_runs order by id`)
  return [...rows] as unknown as Run[]
}

const waitFor = (what: string, holds: () => Promise<boolean>, timeoutMs = PATIENCE) =>
  eventually(holds, { timeoutMs, everyMs: 500, message: () => `${what}\n${platform.logs()}` })

/** No time of any schedule has two runs, and each is a whole minute. */
async function assertOncePerTime(): Promise<void> {
  const times = (await runs()).filter(({ trigger }) => trigger === 'schedule')
  const names = times.map(({ capsule_id, scheduled_at }) => `${capsule_id} ${scheduled_at}`)
  expect(names.length).toBe(new Set(names).size)
  expect(times.every(({ scheduled_at }) => scheduled_at.endsWith(':00Z'))).toBe(true)
}

const judged = async (since: string): Promise<Set<string>> =>
  new Set(
    (await runs())
      .filter(({ status, scheduled_at }) => status === 'completed' && scheduled_at >= since)
      .map(({ capsule_id }) => capsule_id)
  )

const isJudged = async (since: string): Promise<boolean> => {
  const done = await judged(since)
  return capsules.every((id) => done.has(id))
}

const mails = (): string[] => readdirSync(mailDir).filter((name) => name.endsWith('.eml'))

async function inEngine<T>(act: (schedules: ScheduleClient) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: platform.settings.TEMPORAL_ADDRESS! })
  try {
    return await act(new Client({ connection }).schedule)
  } finally {
    await connection.close()
  }
}

const engineSchedules = (): Promise<string[]> =>
  inEngine(async (schedules) => {
    const found: string[] = []
    for await (const { scheduleId } of schedules.list()) found.push(scheduleId)
    return found
  })

/** Temporal starts these schedules for the minute, one after the other, whether or not it has before. */
const makeUp = (ids: string[], minute: Date): Promise<void> =>
  inEngine(async (schedules) => {
    const [start, end] = [new Date(minute.getTime() - 1_000), new Date(minute.getTime() + 1_000)]
    for (const id of ids) await schedules.getHandle(scheduleIdOf(id)).backfill({ start, end, overlap: 'BUFFER_ALL' })
  })

const timeText = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`
/** A minute before the schedules existed, at which nothing has run. */
const minuteBefore = (minutes: number): Date => new Date(Math.floor(begun / MINUTE - minutes) * MINUTE)
const runAt = async (id: string, minute: Date): Promise<Run | undefined> =>
  (await runs()).find(({ capsule_id, scheduled_at }) => capsule_id === id && scheduled_at === timeText(minute))

test(
  'schedules that were set while Temporal was away all run in the minute in which they are due',
  async () => {
    await platform.kill('temporal')
    // All are due in one minute and in no other, since the team has a daily limit.
    const due = new Date(Math.ceil((Date.now() + 30_000 + 200 * CAPSULES) / MINUTE) * MINUTE)
    const cron = isLong ? `${due.getUTCMinutes()} ${due.getUTCHours()} * * *` : '* * * * *'
    for (const id of capsules) {
      const { engine } = await put(id, { cron })
      expect(engine).toEqual({ state: 'pending', reason: null })
    }
    await put(unsteady, { cron, alert: { emails: ['ada@example.org'] } })
    await platform.start.temporal()
    const back = timeText(new Date())
    for (const id of capsules) await waitFor('applied', async () => (await engineOf(id)) === 'applied')
    await waitFor('every capsule is judged', async () => isJudged(back))
    if (isLong)
      console.log(`${CAPSULES} judged ${((Date.now() - due.getTime()) / 1000).toFixed(0)} s after they were due`)
    // The next test kills the worker that sends this one's mail.
    await waitFor('the unsteady one is reported', async () => mails().length > 0)
    await assertOncePerTime()
    const confirmed = (await runs()).filter(
      ({ capsule_id, trigger, verdict }) =>
        trigger === 'confirmation' && capsule_id !== unsteady && ['different', 'drifted'].includes(verdict ?? '')
    )
    expect(confirmed).toEqual([])
  },
  PATIENCE + MINUTE
)

test(
  'a Temporal server that has lost its database gets all schedules again, and no time is run twice',
  async () => {
    await Promise.all([platform.kill('temporal'), platform.kill('worker')])
    rmSync(platform.temporalFile)
    await Promise.all([platform.start.temporal(), platform.start.worker()])
    const all = [...capsules, unsteady].map(scheduleIdOf).sort()
    await waitFor('re-created', async () => (await engineSchedules()).sort().join() === all.join())
    const had = new Set(
      (await runs()).flatMap(({ trigger, scheduled_at }) => (trigger === 'schedule' ? scheduled_at : []))
    )
    for (const minute of had) await makeUp(capsules, new Date(minute))
    const minute = minuteBefore(2)
    await makeUp(capsules, minute)
    for (const id of capsules)
      await waitFor('judged again', async () => (await runAt(id, minute))?.status === 'completed')
    await assertOncePerTime()
    expect(CATCH_UP_SECONDS).toBeGreaterThan(300)
  },
  PATIENCE + MINUTE
)

test(
  'an unexpected verdict is confirmed by a second run, and then reported by one mail',
  async () => {
    const ofUnsteady = async () => (await runs()).filter(({ capsule_id }) => capsule_id === unsteady)
    const [confirmation] = (await ofUnsteady()).filter(({ trigger }) => trigger === 'confirmation')
    expect(confirmation).toMatchObject({ status: 'completed', verdict: 'different' })
    await makeUp([unsteady], minuteBefore(3))
    await waitFor('it came out so again', async () => (await runAt(unsteady, minuteBefore(3)))?.verdict === 'different')
    await answerOf('DELETE', `/api/capsules/${unsteady}/schedule`)
    expect(mails()).toHaveLength(1)
    const mail = readFileSync(join(mailDir, mails()[0]!), 'utf8').replaceAll('=\r\n', '')
    expect(mail).toMatch(/^To: ada@example.org\r$/m)
    expect(mail).toMatch(/^A second run, made to confirm it, came out as: different\.\r$/m)
  },
  PATIENCE + MINUTE
)

test(
  'changed, paused, deleted or archived schedules run no more, and the others continue',
  async () => {
    const [changed, paused, ended, archived, kept, ...others] = capsules as [string, string, string, string, string]
    for (const id of others) await answerOf('DELETE', `/api/capsules/${id}/schedule`)
    await put(changed, { cron: '0 0 1 1 *', timezone: 'Pacific/Auckland' })
    await put(paused, { cron: '* * * * *', paused: true })
    await answerOf('DELETE', `/api/capsules/${ended}/schedule`)
    await answerOf('POST', `/api/capsules/${archived}/archive`)
    const left = [changed, paused, kept].map(scheduleIdOf).sort()
    await waitFor('the rest is gone', async () => (await engineSchedules()).sort().join() === left.join())
    for (const id of [changed, paused, kept]) await waitFor('applied', async () => (await engineOf(id)) === 'applied')
    const since = new Date(Math.ceil(Date.now() / MINUTE) * MINUTE)
    const minute = minuteBefore(4)
    // Temporal starts it, paused or not, when the minute belongs to the schedule: here, of the paused and the kept one.
    await makeUp([changed, paused, kept], minute)
    await waitFor('the one that is left is judged', async () => (await runAt(kept, minute))?.status === 'completed')
    await waitFor('the paused one was asked', () =>
      inEngine(async (schedules) => {
        const { info } = await schedules.getHandle(scheduleIdOf(paused)).describe()
        const asked = info.recentActions.some(({ scheduledAt }) => scheduledAt.getTime() === minute.getTime())
        return asked && info.runningActions.length === 0
      })
    )
    const later = (await runs()).filter(
      ({ scheduled_at }) => scheduled_at >= timeText(since) || scheduled_at === timeText(minute)
    )
    expect(later.map(({ capsule_id }) => capsule_id)).toEqual(later.map(() => kept))
    const rows = await platform.connection.db.execute(sql`select capsule_id from capsule_schedules`)
    expect(rows.length).toBe(3)
  },
  PATIENCE + MINUTE
)

test(
  'a schedule that was paused manually in Temporal is restored from its row',
  async () => {
    const kept = capsules[4]!
    await inEngine(async (schedules) => {
      const handle = schedules.getHandle(scheduleIdOf(kept))
      await handle.pause('by hand')
      await waitFor('put right', async () => !(await handle.describe()).state.paused)
    })
  },
  PATIENCE
)
