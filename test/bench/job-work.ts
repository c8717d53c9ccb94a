// What one job makes the service do, from the log of Postgres and the commands that Redis received: which step sent which
// statements, and the table of docs/operations/benchmarks.md that they are held against.
import type { LoggedStatement } from '../support/postgres/statement-log.js'

export type Mode = 'direct' | 'temporal'
export const modes: readonly Mode[] = ['direct', 'temporal']

interface StatementRow {
  step: string
  what: string
  role: 'api' | 'worker'
  pattern: RegExp
  /** Two notices within five milliseconds are one, so a process that was held up sends fewer. */
  coalesced?: true
}

/** One for each transaction, and for each statement outside of one. */
export const statementRows: readonly StatementRow[] = [
  { step: 'submit', what: 'session with its user', role: 'api', pattern: /^select "sessions"/ },
  { step: 'submit', what: 'backend', role: 'api', pattern: /^select "id", "slug", .* from "backends"/ },
  {
    step: 'submit',
    what: 'team with membership, storage limit, job with event and outbox row, of a free job of the own team',
    role: 'api',
    pattern: /insert into "jobs"/
  },
  { step: 'notices', what: 'the job is recorded', role: 'api', pattern: /^select pg_notify/, coalesced: true },
  { step: 'relay', what: 'outbox row', role: 'api', pattern: /from "outbox" where job_id = any/ },
  { step: 'relay', what: 'labels of the workflow', role: 'api', pattern: /^select "jobs"\."id", "jobs"\."team_id"/ },
  { step: 'relay', what: 'delivery is noted', role: 'api', pattern: /^update "outbox" set .*"deliveries" \+ 1/ },
  {
    step: 'claim',
    what: 'next job of each team',
    role: 'worker',
    pattern: /^with recursive team .*deliveries > 0 and mode = 'direct'/
  },
  {
    step: 'claim',
    what: 'status, lease, event and outbox row, on a backend that is free',
    role: 'worker',
    pattern: /^with moved as .*"backends"\."task_fee_micro"/
  },
  {
    step: 'attempt',
    what: 'what is to be run',
    role: 'worker',
    pattern: /^select "jobs"\."id", "jobs"\."status", "jobs"\."generation"/
  },
  {
    step: 'end',
    what: 'result, attempt, status, events and outbox row, of a short job without money, capsule or webhook',
    role: 'worker',
    pattern: /^with held as .*insert into "artifacts".* moved as /
  },
  {
    step: 'notices',
    what: 'of claim and end',
    role: 'worker',
    pattern: /^select pg_notify/,
    coalesced: true
  }
]

/** Part of statements whose commit does not wait (db/unflushed.ts). */
const UNFLUSHED = "set_config('synchronous_commit', 'off', true)"

/** A transaction, or a statement outside of one. */
interface Unit {
  role: string
  statements: string[]
  parameters: string
  /** It wrote, and its commit waits for the log of Postgres. */
  flushed: boolean
}

export function unitsOf(logged: readonly LoggedStatement[]): Unit[] {
  const units: Unit[] = []
  const open = new Map<string, Unit>()
  for (const { role, session, text, parameters, transaction } of logged) {
    let unit = open.get(session)
    if (!unit) {
      unit = { role, statements: [], parameters: '', flushed: false }
      units.push(unit)
    }
    unit.statements.push(text)
    unit.parameters += parameters
    unit.flushed ||= transaction !== null && !text.includes(UNFLUSHED)
    if (text === 'begin') open.set(session, unit)
    if (text === 'commit' || text === 'rollback') open.delete(session)
  }
  return units
}

export interface StatementCount {
  statements: number
  flushes: number
}

export interface JobStatements {
  byRow: Map<StatementRow, StatementCount>
  /** What no row describes. */
  others: Set<string>
}

const keyOf = ({ role, statements }: Unit): string => `${role}: ${statements.join('; ')}`

/**
 * The work of each job, in the order of `jobIds`, which were submitted one after the other.
 * @param idle what the service did before the first job, which it does without one.
 */
export function statementsOfJobs(idle: readonly Unit[], units: readonly Unit[], jobIds: readonly string[]) {
  const periodic = new Set(idle.filter(({ role }) => role === 'worker').map(keyOf))
  const jobs = jobIds.map((): JobStatements => ({ byRow: new Map(), others: new Set() }))
  // Before it is recorded, a job has no id: what the api does until then belongs to the next one.
  let recorded = -1
  for (const unit of units) {
    const named = jobIds.findIndex((id) => unit.parameters.includes(id))
    if (named < 0 && periodic.has(keyOf(unit))) continue
    const at = named >= 0 ? named : unit.role === 'api' ? recorded + 1 : recorded
    const text = unit.statements.join('; ')
    const row = statementRows.find(({ role, pattern }) => role === unit.role && pattern.test(text))
    if (row?.step === 'submit' && named >= 0) recorded = named
    const job = jobs[at]
    if (!job) continue
    if (row) {
      const { statements, flushes } = job.byRow.get(row) ?? { statements: 0, flushes: 0 }
      job.byRow.set(row, {
        statements: statements + unit.statements.length,
        flushes: flushes + Number(unit.flushed)
      })
    } else job.others.add(keyOf(unit))
  }
  return jobs
}

/** A command of a client, not of a script. */
export interface RedisCommand {
  /** Seconds. */
  at: number
  words: string[]
}

export const redisRows = [
  'limits of the user and of the team',
  'entry added',
  'looks of the worker for an entry',
  'waits of the worker for an entry',
  'entry finished'
] as const
export type RedisRow = (typeof redisRows)[number]

/** How long a worker without work waits for an entry before it looks again, in seconds. */
const IDLE_WAIT = 5

/** The commands of each job, in the order of `jobIds`, without those of a worker that has nothing to do. */
export function redisOfJobs(commands: readonly RedisCommand[], jobIds: readonly string[]): Map<RedisRow, number>[] {
  const jobs = jobIds.map(() => new Map<RedisRow, number>())
  let submitted = -1
  let waitsSince = Number.NEGATIVE_INFINITY
  let isIdle = true
  const rowOf = ({ at, words }: RedisCommand): RedisRow | null => {
    const [command, , , first = '', second = ''] = words
    if (command === 'bzpopmin') {
      waitsSince = at
      return isIdle ? null : 'waits of the worker for an entry'
    }
    if (!command!.startsWith('eval')) return null
    if (first.includes(':rate-limits:')) return 'limits of the user and of the team'
    const namesJob = jobIds.some((id) => words.some((word) => word.includes(id)))
    if (namesJob) return second.endsWith(':paused') ? 'entry added' : 'entry finished'
    if (!first.endsWith(':wait') || !second.endsWith(':active')) return null
    isIdle = at - waitsSince >= IDLE_WAIT
    return isIdle ? null : 'looks of the worker for an entry'
  }
  for (const command of commands) {
    if (command.words[3]?.includes(':rate-limits:submit:')) submitted++
    const row = rowOf(command)
    const job = jobs[submitted]
    if (row && job) job.set(row, (job.get(row) ?? 0) + 1)
  }
  return jobs
}

/** The value that comes most often. */
export function usual(values: readonly number[]): number {
  const often = (value: number) => values.filter((other) => other === value).length
  return values.reduce((best, value) => (often(value) > often(best) ? value : best), values[0]!)
}

type Counts = Record<Mode, readonly number[]>

const line = (cells: readonly (string | number)[]): string => `| ${cells.map((cell) => cell || '').join(' | ')} |`
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/** The tables as docs/operations/benchmarks.md has them. @param statements statements and flushes of each row. */
export function tables(statements: Record<Mode, readonly StatementCount[]>, redis: Counts): string {
  const both = (of: keyof StatementCount, at: number) => modes.map((mode) => statements[mode][at]![of])
  const total = (of: keyof StatementCount) => modes.map((mode) => sum(statements[mode].map((count) => count[of])))
  return [
    '| Step | Statements | direct | temporal | Commits flushed, direct | temporal |',
    '|---|---|---|---|---|---|',
    ...statementRows.map(({ step, what }, at) => line([step, what, ...both('statements', at), ...both('flushes', at)])),
    line(['all', '', ...total('statements'), ...total('flushes')]),
    '',
    '| Calls to Redis | direct | temporal |',
    '|---|---|---|',
    ...redisRows.map((row, at) => line([row, ...modes.map((mode) => redis[mode][at]!)])),
    line(['all', ...modes.map((mode) => sum(redis[mode]))])
  ].join('\n')
}
