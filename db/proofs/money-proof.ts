// Proves that ledger, counters and jobs agree; it corrects nothing. Each statement reads one snapshot, in which they must
// agree to the micro-dollar, since they only change together.
//
// `proveRecent` runs every minute and checks what can have changed: open and held jobs, counters with a reservation,
// the days since yesterday and the months since the last one. Its cost grows with the open work and the traffic of two
// days, not with the age of the ledger. `proveAll` reads the whole ledger once a day, some teams or some jobs at a time: a
// snapshot holds vacuum back in all tables while it is used.
import { type SQL, sql } from 'drizzle-orm'
import { formatUsd } from '../../domain/money/money.js'
import { jobsAboveReservation, moneyIsHeld, reservedForJob } from '../admin/held-money.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { FINDINGS_MAX } from '../service/sweeps.js'

// Distinct numbers, since other programs may take advisory locks in the same database.
const locks = { recent: 7_104_001, all: 7_104_002 }
/** Reading a team's whole ledger can take longer than a request's statement is allowed to. */
const ALL_TIMEOUT = '10min'
const TEAMS_AT_ONCE = 100
const JOBS_AT_ONCE = 100_000
/** How many days a job that exceeded its reservation is reported. */
const OVER_DAYS = 7

/** Findings about open and recent periods; `null` when another worker is proving. */
export const proveRecent = (db: Db): Promise<string[] | null> =>
  db.transaction(
    async (tx) => {
      if (!(await takeLock(tx, locks.recent))) return null
      const findings: string[] = []
      for (const proof of [
        reservationsAgainstJobs,
        capsuleReservations,
        recentDays,
        recentMonths,
        aboveReservation,
        heldForGood
      ])
        findings.push(...(await proof(tx)))
      return [...new Set(findings)].slice(0, FINDINGS_MAX)
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' }
  )

/**
 * Findings about every entry of the ledger, every counter and every job with a price; `null` when another worker is
 * proving.
 * @param options.teamsAtOnce how many teams a statement reads, that compares sums with counters.
 * @param options.jobsAtOnce how many jobs a statement reads, that compares jobs with their entries. They are read in the order of
 * their ids, which is that of the disk: by team, each slice would read the pages of most others as well.
 * @param options.signal stops before the next statement; the proof then rejects.
 */
export const proveAll = (
  db: Db,
  {
    teamsAtOnce = TEAMS_AT_ONCE,
    jobsAtOnce = JOBS_AT_ONCE,
    signal
  }: { teamsAtOnce?: number; jobsAtOnce?: number; signal?: AbortSignal } = {}
): Promise<string[] | null> =>
  db.transaction(
    async (tx) => {
      if (!(await takeLock(tx, locks.all))) return null
      await tx.execute(sql.raw(`set local statement_timeout = '${ALL_TIMEOUT}'`))
      const findings = new Set<string>()
      const note = async (proof: (handle: Tx, slice: Slice) => Promise<string[]>, slice: Slice) => {
        signal?.throwIfAborted()
        for (const finding of await proof(tx, slice)) findings.add(finding)
      }
      for (const teams of await sliceTeams(tx, teamsAtOnce))
        for (const proof of [ledgerMismatchesOf, ledgerAgainstKeyDays, ledgerAgainstCapsules]) await note(proof, teams)
      for await (const ids of sliceJobs(tx, jobsAtOnce))
        for (const proof of [(handle: Tx, slice: Slice) => wrongBooks(handle, slice(sql`job_id`)), jobsWithoutBooks])
          await note(proof, ids)
      return [...findings].slice(0, FINDINGS_MAX)
    },
    // Each statement has a snapshot of its own.
    { isolationLevel: 'read committed', accessMode: 'read only' }
  )

async function takeLock(tx: Tx, lock: number): Promise<boolean> {
  const [row] = await tx.execute(sql`select pg_try_advisory_xact_lock(${lock}) as taken`)
  return row!.taken === true
}

/** A condition on a column that holds ids: of teams, or of jobs. */
type Slice = (column: SQL) => SQL

const all: Slice = () => sql`true`

/** @param from the first id; `null`: no bound. @param until the first id of the next slice, likewise. */
const between =
  (from: string | null, until: string | null): Slice =>
  (column) =>
    sql`${from === null ? sql`true` : sql`${column} >= ${from}::uuid`} and ${until === null ? sql`true` : sql`${column} < ${until}::uuid`}`

/** Ranges of ids, which together cover every id: the ledger can name a team that does not exist. */
async function sliceTeams(tx: Tx, teamsAtOnce: number): Promise<Slice[]> {
  const rows = await tx.execute<{ id: string }>(sql`
    select id from (select id, row_number() over (order by id) as place from teams) numbered
    where place % ${teamsAtOnce} = 0 order by id`)
  const bounds = [null, ...rows.map(({ id }) => id), null]
  return bounds.slice(1).map((until, at) => between(bounds[at] ?? null, until))
}

/** As `sliceTeams`, of jobs. */
async function* sliceJobs(tx: Tx, jobsAtOnce: number): AsyncGenerator<Slice> {
  let from: string | null = null
  do {
    const rows: { id: string }[] = await tx.execute<{ id: string }>(
      sql`select id from jobs where ${between(from, null)(sql`id`)} order by id offset ${jobsAtOnce} limit 1`
    )
    const until: string | null = rows[0]?.id ?? null
    yield between(from, until)
    from = until
  } while (from !== null)
}

/** How much an entry of the ledger adds to the reserved and to the spent amount. */
const reservedBy = sql`case ledger.kind when 'reserve' then ledger.amount_micro when 'adjust' then 0 else -ledger.amount_micro end`
const spentBy = sql`case when ledger.kind in ('settle', 'adjust') then ledger.amount_micro else 0 end`
const open = sql`status in ('pending', 'running', 'cancelling')`

/** Counters of teams and keys whose reserved amount differs from their open and held jobs. */
async function reservationsAgainstJobs(tx: Tx): Promise<string[]> {
  const rows = await tx.execute<{
    team: string | null
    key: string | null
    day: string
    counter: string
    books: string
  }>(sql`
    with jobs_with_money as (select id, api_key_id from jobs where ${open}
        union all select id, api_key_id from jobs where ${moneyIsHeld}),
      entries as (select ledger.team_id, ledger.day, api_key_id, ${reservedBy} as amount
        from jobs_with_money join ledger on ledger.job_id = jobs_with_money.id),
      of_teams as (select team_id, day, sum(amount) as amount from entries group by 1, 2),
      of_keys as (select api_key_id as key_id, day, sum(amount) as amount
        from entries join api_keys on api_keys.id = api_key_id and daily_limit_micro is not null group by 1, 2)
    select coalesce(c.team_id, e.team_id) as team, null as key, coalesce(c.starts_on, e.day)::text as day,
      coalesce(reserved_micro, 0)::text as counter, coalesce(amount, 0)::text as books
    from (select * from budget_counters where period = 'day' and reserved_micro <> 0) c
    full join of_teams e on e.team_id = c.team_id and e.day = c.starts_on
    where coalesce(reserved_micro, 0) <> coalesce(amount, 0)
    union all
    select null, coalesce(c.key_id, e.key_id), coalesce(c.day, e.day)::text,
      coalesce(reserved_micro, 0)::text, coalesce(amount, 0)::text
    from (select * from api_key_days where reserved_micro <> 0) c
    full join of_keys e on e.key_id = c.key_id and e.day = c.day
    where coalesce(reserved_micro, 0) <> coalesce(amount, 0)
    order by 3, 1, 2 limit ${FINDINGS_MAX}`)
  const findings: string[] = []
  for (const { team, key, day, counter, books } of rows) {
    const whose = team ? `team ${team}` : `API key ${key}`
    findings.push(
      `${whose}, ${day}: ${usd(counter)} counted as reserved, but ${usd(books)} for its open and held jobs`,
      ...(team ? await wrongBooks(tx, sql`team_id = ${team} and day = ${day}::date`) : [])
    )
  }
  return findings
}

interface Differing extends Record<string, unknown> {
  what: string
  reserved: string
  reserved_by_counter: string
  spent: string
  spent_by_counter: string
}

/** One sentence per difference. @param compared rows of `what`, the ledger's figures `b`, the counter's figures `c`. */
async function differences(tx: DbOrTx, compared: SQL): Promise<string[]> {
  const rows = await tx.execute<Differing>(sql`
    select what, coalesce(b_reserved, 0)::text as reserved, coalesce(c_reserved, 0)::text as reserved_by_counter,
      coalesce(b_spent, 0)::text as spent, coalesce(c_spent, 0)::text as spent_by_counter
    from (${compared}) compared
    where coalesce(b_reserved, 0) <> coalesce(c_reserved, 0) or coalesce(b_spent, 0) <> coalesce(c_spent, 0)
    order by what limit ${FINDINGS_MAX}`)
  return rows.map(
    (row) =>
      `${row.what}: ${usd(row.reserved_by_counter)} reserved and ${usd(row.spent_by_counter)} spent by the counter, ` +
      `${usd(row.reserved)} and ${usd(row.spent)} by the ledger`
  )
}

const recentDays = (tx: Tx) =>
  differences(
    tx,
    sql`select 'team ' || team_id || ', ' || starts_on as what, reserved_micro as c_reserved, spent_micro as c_spent,
        b_reserved, b_spent
      from budget_counters c,
        lateral (select sum(${reservedBy}) as b_reserved, sum(${spentBy}) as b_spent from ledger
          where ledger.team_id = c.team_id and ledger.day = c.starts_on) books
      where period = 'day' and starts_on >= (now() at time zone 'UTC')::date - 1`
  )

/** A month is the sum of its days, which are proved one by one. */
const recentMonths = (tx: Tx) =>
  differences(
    tx,
    sql`select 'team ' || team_id || ', month of ' || starts_on as what, reserved_micro as c_reserved,
        spent_micro as c_spent, b_reserved, b_spent
      from budget_counters c,
        lateral (select sum(reserved_micro) as b_reserved, sum(spent_micro) as b_spent from budget_counters d
          where d.team_id = c.team_id and d.period = 'day' and d.starts_on >= c.starts_on
            and d.starts_on < c.starts_on + interval '1 month') days
      where period = 'month'
        and (starts_on >= date_trunc('month', now() at time zone 'UTC') - interval '1 month' or reserved_micro <> 0)`
  )

/** Days and months of teams on which ledger and counters differ. There must never be any. */
export const ledgerMismatches = (tx: DbOrTx) => ledgerMismatchesOf(tx, all)

const ledgerMismatchesOf = (tx: DbOrTx, teams: Slice) =>
  differences(
    tx,
    sql`select 'team ' || coalesce(c.team_id, b.team_id) || ', ' || coalesce(c.period, b.period) || ' of '
          || coalesce(c.starts_on, b.starts_on) as what,
        reserved_micro as c_reserved, spent_micro as c_spent, b_reserved, b_spent
      from (select * from budget_counters where ${teams(sql`team_id`)}) c
      full join (
        with days as (select team_id, day, sum(${reservedBy}) as reserved, sum(${spentBy}) as spent from ledger
          where ${teams(sql`team_id`)} group by 1, 2)
        select team_id, 'day' as period, day as starts_on, reserved as b_reserved, spent as b_spent from days
        union all
        select team_id, 'month', date_trunc('month', day)::date, sum(reserved), sum(spent) from days group by 1, 2, 3
      ) b on b.team_id = c.team_id and b.period = c.period and b.starts_on = c.starts_on`
  )

const ledgerAgainstKeyDays = (tx: Tx, teams: Slice) =>
  differences(
    tx,
    sql`select 'API key ' || coalesce(c.key_id, b.key_id) || ', day of ' || coalesce(c.day, b.day) as what,
        reserved_micro as c_reserved, spent_micro as c_spent, b_reserved, b_spent
      from (select api_key_days.* from api_key_days join api_keys on api_keys.id = key_id
        where ${teams(sql`api_keys.team_id`)}) c
      full join (
        select api_key_id as key_id, day, sum(${reservedBy}) as b_reserved, sum(${spentBy}) as b_spent
        from ledger join jobs on jobs.id = job_id
          join api_keys on api_keys.id = api_key_id and daily_limit_micro is not null
        where ${teams(sql`api_keys.team_id`)} and ${teams(sql`ledger.team_id`)}
        group by 1, 2
      ) b on b.key_id = c.key_id and b.day = c.day`
  )

/** A capsule's counter equals the sum over the jobs of its runs. A deleted capsule has no counter. */
const ledgerAgainstCapsules = (tx: Tx, teams: Slice) =>
  differences(
    tx,
    sql`select 'capsule ' || coalesce(c.capsule_id, b.capsule_id) as what,
        reserved_micro as c_reserved, spent_micro as c_spent, b_reserved, b_spent
      from (select capsule_budgets.* from capsule_budgets join capsules on capsules.id = capsule_id
        where ${teams(sql`capsules.team_id`)}) c
      full join (
        select capsules.id as capsule_id, sum(${reservedBy}) as b_reserved, sum(${spentBy}) as b_spent
        from jobs join capsules on capsules.id = jobs.capsule_id join ledger on ledger.job_id = jobs.id
        where capsule_run_id is not null and ${teams(sql`capsules.team_id`)} group by 1
      ) b on b.capsule_id = c.capsule_id`
  )

/** Capsules whose reserved amount differs from the open and held jobs of their runs. */
async function capsuleReservations(tx: Tx): Promise<string[]> {
  const rows = await tx.execute<{ capsule: string; counter: string; books: string }>(sql`
    with jobs_with_money as (select id, capsule_id from jobs where ${open} and capsule_run_id is not null
        union all select id, capsule_id from jobs where ${moneyIsHeld} and capsule_run_id is not null),
      books as (select capsules.id as capsule_id, sum(${reservedBy}) as amount
        from jobs_with_money join capsules on capsules.id = capsule_id join ledger on ledger.job_id = jobs_with_money.id
        group by 1)
    select coalesce(c.capsule_id, books.capsule_id) as capsule,
      coalesce(reserved_micro, 0)::text as counter, coalesce(amount, 0)::text as books
    from (select * from capsule_budgets where reserved_micro <> 0) c full join books using (capsule_id)
    where coalesce(reserved_micro, 0) <> coalesce(amount, 0) order by 1 limit ${FINDINGS_MAX}`)
  return rows.map(
    ({ capsule, counter, books }) =>
      `capsule ${capsule}: ${usd(counter)} counted as reserved, but ${usd(books)} for the open and held jobs of its runs`
  )
}

/** Jobs whose entries contradict their status and cost. @param where a condition on the ledger. */
async function wrongBooks(tx: Tx, where: SQL): Promise<string[]> {
  const rows = await tx.execute<Record<'id' | 'status' | 'left' | 'cost' | 'spent' | 'wrong', string>>(sql`
    with books as (
      select job_id, sum(${reservedBy}) as left, sum(${spentBy}) as spent,
        bool_or(kind in ('settle', 'release') and task = '') as ended
      from ledger where ${where} group by job_id
    ), judged as (
      select job_id as id, status, "left"::text, actual_cost_micro::text as cost, spent::text, case
        when status is null then 'missing'
        when ${open} then case when ended then 'early' end
        when ${moneyIsHeld} then case when ended then 'not held' end
        when "left" <> 0 then 'left over'
        when actual_cost_micro is distinct from spent then 'cost'
      end as wrong
      from books left join jobs on jobs.id = job_id
    )
    select * from judged where wrong is not null order by id limit ${FINDINGS_MAX}`)
  return rows.map(({ id, status, wrong, left, cost, spent }) => {
    switch (wrong) {
      case 'missing':
        return `job ${id} does not exist, and the ledger has ${usd(left)} reserved and ${usd(spent)} spent for it`
      case 'early':
        return `job ${id} is ${status}, and settled already: ${usd(spent)} spent`
      case 'not held':
        return `job ${id} is ${status} and waits for its figure, but the ledger has it settled: ${usd(spent)} spent`
      case 'left over':
        return `job ${id} is ${status}, and ${usd(left)} is still reserved for it`
      default:
        return `job ${id} is ${status} and has cost ${cost === null ? 'nothing known' : usd(cost)}, the ledger says ${usd(spent)}`
    }
  })
}

/** Jobs with a price or a cost that have no entry in the ledger. */
async function jobsWithoutBooks(tx: Tx, ids: Slice): Promise<string[]> {
  const rows = await tx.execute<{ id: string; status: string; amount: string }>(sql`
    select id, status, greatest(estimated_cost_micro, actual_cost_micro)::text as amount from jobs
    where (estimated_cost_micro <> 0 or actual_cost_micro <> 0) and ${ids(sql`jobs.id`)}
      and not exists (select 1 from ledger where ledger.job_id = jobs.id)
    order by id limit ${FINDINGS_MAX}`)
  return rows.map(
    ({ id, status, amount }) => `job ${id} is ${status}, costs ${usd(amount)}, and the ledger has no entry`
  )
}

async function aboveReservation(tx: Tx): Promise<string[]> {
  const rows = await tx.execute<{ job_id: string; team_id: string; above: string }>(sql`
    select job_id, team_id, (spent - reserved)::text as above
    from ${jobsAboveReservation(sql`at > now() - make_interval(days => ${OVER_DAYS})`)} over
    order by at desc limit ${FINDINGS_MAX}`)
  return rows.map(
    ({ job_id, team_id, above }) => `job ${job_id} of team ${team_id} cost ${usd(above)} more than was reserved for it`
  )
}

/** Held money whose provider is no longer queried. */
async function heldForGood(tx: Tx): Promise<string[]> {
  const rows = await tx.execute<{ id: string; team_id: string; amount: string }>(sql`
    select id, team_id, amount::text as amount from jobs, lateral ${reservedForJob} reserved (amount)
    where ${moneyIsHeld} and amount > 0
      and not exists (select 1 from provider_tasks where job_id = jobs.id and ask_at is not null)
    order by completed_at limit ${FINDINGS_MAX}`)
  return rows.map(
    ({ id, team_id, amount }) =>
      `job ${id} of team ${team_id}: ${usd(amount)} is held, and its provider is no longer queried; ` +
      `settle it with what the provider billed: qjob admin settle ${id} USD`
  )
}

const usd = (micro: string): string => formatUsd(BigInt(micro))
