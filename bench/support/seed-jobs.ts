// Inserts a year of jobs by SQL: several teams, one with most jobs; statuses, backends, prices, attempts, ledger and counters
// as the service would have written them.
import postgres from 'postgres'
import type { BenchPlatform } from './bench-stack.js'

/** The measured team's share of all jobs; a few hundred other teams have the rest. */
const SHARE = 0.6

export interface SeededJobs {
  teamId: string
  /** Jobs of the measured team: one in the middle of the year, and the newest. */
  middleId: string
  newestId: string
}

/** Disables triggers and foreign keys, which would take minutes. */
export async function seedJobs({ settings, user }: BenchPlatform, count: number): Promise<SeededJobs> {
  const sql = postgres(settings.DATABASE_URL!, { max: 1, onnotice: () => {} })
  // Some statuses and backends have a fixed number of jobs, independent of the total.
  const rare = (jobs: number) => count / jobs
  try {
    await sql`set session_replication_role = replica`
    await sql`set synchronous_commit = off`
    await sql`set maintenance_work_mem = '1GB'`
    const remakeIndexes = await dropIndexes(sql, ['jobs', 'attempts', 'ledger'])
    const [team] = await sql<{ id: string }[]>`
      insert into teams (id, name) values (gen_random_uuid(), 'The measured team') returning id`
    await sql`insert into members (team_id, user_id, role) values (${team!.id}, ${user.id}, 'owner')`
    await sql`create temp table others as select gen_random_uuid() as id, n from generate_series(0, ${Math.ceil(count / 5_000)}::int) n`
    await sql`insert into teams (id, name) select id, 'Team ' || n from others`
    await sql`
      insert into jobs (id, team_id, user_id, name, labels, status, execution_mode, durable, backend, provider, framework,
        source_kind, source_format, source_text, source_sha256, params, shots, timeout_seconds, estimated_cost_micro,
        actual_cost_micro, error_code, error_message, created_at, started_at, completed_at, updated_at)
      select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(noise, 1, 3) || '8'
          || substr(noise, 4, 15))::uuid,
        case when chance < ${SHARE} then ${team!.id}::uuid else (select id from others where others.n = i % ${Math.ceil(count / 5_000)}::int) end,
        ${user.id}, case i % 3 when 0 then 'Bell pair ' || i when 1 then 'Variational run ' || i end,
        case i % 5 when 0 then '["nightly"]'::jsonb else '[]' end, status, case i % 2 when 0 then 'direct' else 'temporal' end, i % 2 <> 0,
        backend, case when backend like 'ionq%' then 'IonQ' else 'Local' end, 'openqasm', 'circuit', 'qasm3',
        'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; h q[0]; cx q[0], q[1];', md5(i::text), '{"shots":100}', 100,
        120, cost, case status when 'completed' then cost else 0 end,
        case status when 'failed' then 'execution_error' end, case status when 'failed' then 'as seeded' end,
        at, at + interval '1 s', at + interval '2 s', at + interval '2 s'
      from (select *, case when backend like 'ionq%' then 20000 else 0 end as cost from (
        select i, now() - interval '365 days' * ((${count}::int - i)::float8 / ${count}::int) as at, md5('noise' || i) as noise,
          random() as chance,
          case when i % ${rare(100)}::int = 0 then 'dispatch_failed' when i % 1000 < 930 then 'completed'
            when i % 1000 < 975 then 'failed' else 'cancelled' end as status,
          case when i % ${rare(1_000)}::int = 1 then 'ionq-direct-forte-1' else (array['local', 'local', 'local', 'marqov-sim',
            'marqov-sim', 'aer-statevector', 'ionq-direct-simulator'])[1 + (i / 10) % 7] end as backend
        from generate_series(1, ${count}::int) i) made) priced`
    await sql`
      insert into attempts (job_id, task, number, generation, state, started_at, ended_at)
      select id, '', 1, 1, case status when 'completed' then 'completed' else 'failed' end, started_at, completed_at from jobs`
    await sql`
      insert into ledger (team_id, job_id, kind, amount_micro, day, at)
      select team_id, id, kind, estimated_cost_micro, (created_at at time zone 'UTC')::date, created_at from jobs,
        lateral (values ('reserve'), (case status when 'completed' then 'settle' else 'release' end)) kinds (kind)
      where estimated_cost_micro > 0`
    await remakeIndexes()
    await sql`
      insert into budget_counters (team_id, period, starts_on, spent_micro, reserved_micro)
      select team_id, period, date_trunc(period, day)::date, sum(amount_micro), 0
      from ledger, (values ('day'), ('month')) periods (period) where kind = 'settle' group by 1, 2, 3`
    await sql`
      insert into usage_days (team_id, day, backend, provider, jobs, shots, spent_micro)
      select team_id, (created_at at time zone 'UTC')::date, backend, provider, count(*), sum(shots), sum(actual_cost_micro)
      from jobs group by 1, 2, 3, 4`
    // A year's spending exceeds the default limit of a month.
    await sql`insert into team_budgets (team_id, per_job_micro, daily_micro, monthly_micro, ceiling_daily_micro, ceiling_monthly_micro)
      values (${team!.id}, 1000000000, 1000000000000, 1000000000000, 1000000000000, 1000000000000)`
    await sql`vacuum analyze`
    const ofTeam = await sql<{ id: string }[]>`
      select id from jobs where team_id = ${team!.id} order by id desc
      offset (select count(*) / 2 from jobs where team_id = ${team!.id}) limit 1`
    const [newest] = await sql<
      { id: string }[]
    >`select id from jobs where team_id = ${team!.id} order by id desc limit 1`
    return { teamId: team!.id, middleId: ofTeam[0]!.id, newestId: newest!.id }
  } finally {
    await sql.end()
  }
}

/**
 * Drops all indexes but those of keys: rows are inserted several times as fast without.
 * @returns what makes them again.
 */
async function dropIndexes(sql: postgres.Sql, tables: string[]): Promise<() => Promise<void>> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid = any(string_to_array(${tables.join(',')}, ',')::regclass[]) and not indisunique`
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`)
  return async () => {
    for (const { definition } of indexes) await sql.unsafe(definition)
  }
}
