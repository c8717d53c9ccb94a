import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect } from '../../db/client.js'
import { proveAll, proveRecent } from '../../db/money-proof.js'
import { createTestDatabase } from '../support/database.js'
import { addJob, addPerson, addTeam } from '../support/rows.js'

const database = await createTestDatabase('zz_perf')
afterAll(() => database.drop())
test('perf', async () => {
  const big = connect(database.url, { max: 2, statementTimeoutMs: 600_000 })
  const { db } = big
  const person = await addPerson(db)
  const team = await addTeam(db, person)
  const model = await addJob(db, person, { cost: 1n, submission: { teamId: team } })
  for (const [n, teams, days, tag] of [[1_000_000, 100, 60, 'spread'], [500_000, 1, 1, 'one team, today']] as const) {
    const t0 = performance.now()
    await db.execute(sql`create temp table seeds as select gen_random_uuid() as id, n, n % ${teams}::int as team, current_date - (n % ${days}::int)::int as day from generate_series(1, ${n}::int) n`)
    await db.execute(sql`insert into teams (id, name) select ('00000000-0000-4000-a${sql.raw(String(days).padStart(3, '0'))}-' || lpad(t::text, 12, '0'))::uuid, 't' from generate_series(0, ${teams}::int - 1) t`)
    await db.execute(sql`insert into jobs (id, team_id, labels, status, execution_mode, backend, provider, framework, source_kind, source_text, source_sha256, params, shots, timeout_seconds, estimated_cost_micro, actual_cost_micro, created_at, durable)
      select s.id, ('00000000-0000-4000-a${sql.raw(String(days).padStart(3, '0'))}-' || lpad(s.team::text, 12, '0'))::uuid, labels, 'completed', execution_mode, backend, provider, framework, source_kind, 'x', source_sha256, params, shots, timeout_seconds, 5, 5, s.day, durable
      from seeds s, jobs where jobs.id = ${model}`)
    await db.execute(sql`insert into ledger (team_id, job_id, kind, amount_micro, day) select ('00000000-0000-4000-a${sql.raw(String(days).padStart(3, '0'))}-' || lpad(s.team::text, 12, '0'))::uuid, s.id, k, 5, s.day from seeds s, (values ('reserve'), ('settle')) v(k)`)
    await db.execute(sql`insert into budget_counters select team_id, 'day', day, sum(amount_micro) filter (where kind='settle'), 0 from ledger where job_id <> ${model} group by 1, 3 on conflict do nothing`)
    await db.execute(sql`insert into budget_counters select team_id, 'month', date_trunc('month', day), sum(amount_micro) filter (where kind='settle'), 0 from ledger where job_id <> ${model} group by 1, 3 on conflict do nothing`)
    await db.execute(sql`drop table seeds`)
    await db.execute(sql`analyze`)
    console.log(tag, 'seeded', performance.now() - t0)
    for (let i = 0; i < 3; i++) {
      const a = performance.now()
      const r = await proveRecent(db)
      const b = performance.now()
      const f = i ? [] : await proveAll(db)
      console.log(tag, 'recent', b - a, 'all', performance.now() - b, r!.slice(0, 3), f!.slice(0, 3))
    }
    for (let i = 0; i < 100; i++) await addJob(db, person, { cost: 1n, submission: { teamId: team } })
    const a = performance.now()
    expect(await proveRecent(db)).toEqual([])
    console.log(tag, 'recent with 100 open', performance.now() - a)
  }
  await big.close()
}, 900_000)
