// Many clients that wait at one api process with waiting status requests or event streams, one for each job, while jobs change
// as fast as one or two workers change them: the time until a client is notified, and the load of the process.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createJobAnnouncer } from '../db/jobs/job-changes.js'
import { transition } from '../db/jobs/job-transition.js'
import { submitMany } from './submit.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { cpuSecondsOf, memoryOf } from './support/process-load.js'
import { printTable, quantile } from './support/table.js'

const WAITERS = 2_000
/** Of one user; a user can have 20 streams open. */
const WAITERS_PER_USER = 20
const CHANGES = 600
const CHANGES_PER_SECOND = 40
const GOAL_MS = 100
const GOAL_CONNECTIONS = 10
const OPEN_LIMIT_MS = 60_000

/** Opens one waiting client. `notified` is called once, when the client learns that its job runs. */
type Open = (path: string, notified: () => void) => Promise<void>

export async function benchHeldPolls(stack: BenchStack): Promise<void> {
  // Each request waits at most 22 s, and is then sent again as clients do.
  const poll =
    (client: Client): Open =>
    async (id, notified) => {
      const send = () =>
        openRequest(client, `/api/jobs/${id}/status?wait=22`, (response) => {
          let text = ''
          response.on('data', (chunk: string) => {
            text += chunk
          })
          response.on('end', () => (text.includes('"running"') ? notified() : void send()))
        })
      await send()
    }
  await bench(stack, 'held_polls', 'waiting status requests', poll)
}

export async function benchStreams(stack: BenchStack): Promise<void> {
  const stream =
    (client: Client): Open =>
    async (id, notified) => {
      await openRequest(client, `/api/jobs/${id}/events`, (response) => {
        response.on('data', (chunk: string) => {
          if (chunk.includes('"running"')) notified()
        })
      })
    }
  await bench(stack, 'streams', 'event streams', stream)
}

async function bench(stack: BenchStack, name: string, what: string, openWith: (client: Client) => Open): Promise<void> {
  const platform = await stack.platform(`bench_${name}`, stack.executors['no-op'])
  const agent = new Agent({ keepAlive: true, maxSockets: WAITERS })
  const { sql, db } = platform.connection
  let asked = 0
  const announce = createJobAnnouncer(db)
  try {
    // No worker runs the jobs: the bench starts them.
    await submitMany(platform, 'direct', 10, WAITERS)
    const ids = (await sql<{ id: string }[]>`select id from jobs order by id`).map(({ id }) => id)
    const idle = memoryOf(platform.apiPid)
    const changedAt = new Map<string, number>()
    const delays: number[] = []
    const cookies = await membersOf(platform)
    const open = openWith({ base: platform.base, agent, cookie: () => cookies[asked++ % cookies.length]! })
    for (const id of ids) void open(id, () => delays.push(performance.now() - changedAt.get(id)!))
    await untilOpen(platform.apiPid, WAITERS)
    const held = memoryOf(platform.apiPid)
    const cpu = cpuSecondsOf(platform.apiPid)
    let connections = 0
    const began = performance.now()
    for (let at = 0; at < CHANGES; at++) {
      await delay(began + (at * 1000) / CHANGES_PER_SECOND - performance.now())
      const id = ids[Math.floor((at * WAITERS) / CHANGES)]!
      await db.transaction((tx) => transition(tx, id, 'running'))
      changedAt.set(id, performance.now())
      announce(id)
      if (at % 20 === 0) connections = Math.max(connections, connectionsOf(platform.apiPid, databasePort(platform)))
    }
    const seconds = (performance.now() - began) / 1000
    const busy = (cpuSecondsOf(platform.apiPid) - cpu) / seconds
    const deadline = performance.now() + 10_000
    while (delays.length < CHANGES && performance.now() < deadline) await delay(10)
    const p95 = quantile(delays, 0.95)
    const verdict = (reached: boolean) => (reached ? 'reached' : 'missed')
    printTable(
      `${WAITERS} ${what} at one api, ${CHANGES_PER_SECOND} changes/s`,
      ['what', 'figure', 'goal'],
      [
        ['notified', `${delays.length} of ${CHANGES}`, verdict(delays.length === CHANGES)],
        [
          'time after the change, p50 / p95 / p99 ms',
          [0.5, 0.95, 0.99].map((share) => quantile(delays, share).toFixed(1)).join(' / '),
          `p95 < ${GOAL_MS}: ${verdict(p95 < GOAL_MS)}`
        ],
        [
          'database connections of the api',
          String(connections),
          `${GOAL_CONNECTIONS}: ${verdict(connections <= GOAL_CONNECTIONS)}`
        ],
        ['memory of the api without / with them', `${idle} / ${held} MiB`, ''],
        ['memory per client', `${(((held - idle) * 1024) / WAITERS).toFixed(0)} KiB`, ''],
        ['processor time of the api', `${(100 * busy).toFixed(0)} % of a core`, '']
      ]
    )
  } finally {
    agent.destroy()
    await platform.close()
  }
}

/** Users of the team that owns the jobs, by their cookies. */
async function membersOf(platform: BenchPlatform): Promise<string[]> {
  const cookies: string[] = []
  for (let at = 0; at < WAITERS / WAITERS_PER_USER; at++)
    cookies.push(await platform.signUp(`waiter-${at}@example.org`))
  await platform.connection.sql`insert into members (team_id, user_id, role)
    select (select team_id from jobs limit 1), id, 'member' from users where email like 'waiter-%'`
  return cookies
}

interface Client {
  base: string
  agent: Agent
  /** Of another user with each call. */
  cookie(): string
}

/** Sends a request and resolves when it is sent; the response may wait. */
function openRequest(
  { base, agent, cookie }: Client,
  path: string,
  onResponse: (response: IncomingMessage) => void
): Promise<void> {
  return new Promise((resolve) => {
    const request = get(`${base}${path}`, { agent, headers: { cookie: cookie() } }, (response) => {
      response.setEncoding('utf8')
      onResponse(response)
    })
    // Requests that are still open at the end of the bench fail.
    request.on('error', () => {})
    request.on('finish', resolve)
  })
}

async function untilOpen(pid: number, count: number): Promise<void> {
  const deadline = performance.now() + OPEN_LIMIT_MS
  let before = Number.NaN
  // All sockets are connected, and the process is idle again.
  while (performance.now() < deadline) {
    const cpu = cpuSecondsOf(pid)
    if (socketsOf(pid).length >= count && cpu - before < 0.5) return
    before = cpu
    await delay(1_000)
  }
  throw new Error(`${socketsOf(pid).length} sockets after ${OPEN_LIMIT_MS / 1000} s`)
}

function openInodes(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      // The descriptor was closed in between.
      return []
    }
  })
}

/** The established connections of the process, as lines of /proc/net/tcp. */
function socketsOf(pid: number): string[] {
  const inodes = new Set(openInodes(pid))
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line.split(/\s+/)[3] === '01' && inodes.has(line.split(/\s+/)[9]!))
}

const connectionsOf = (pid: number, port: number): number =>
  socketsOf(pid).filter((line) => Number.parseInt(line.split(/\s+/)[2]!.split(':')[1]!, 16) === port).length

const databasePort = ({ settings }: BenchPlatform): number => Number(new URL(settings.DATABASE_URL!).port)
