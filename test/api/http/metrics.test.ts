// Metrics of the API: submissions by outcome, refusals because of money, and the state of the service.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Registry } from 'prom-client'
import { connect } from '../../../db/client.js'
import { serviceState } from '../../../db/service/service-state.js'
import { recordSweep } from '../../../db/service/sweeps.js'
import { createStateMetrics } from '../../../services/telemetry/state-metrics.js'
import { deadAddress, startApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('metrics')
const { db, sql } = api.database
afterAll(() => api.close())

let ada: TestUser
beforeAll(async () => {
  ada = await api.signUp()
})

/** Every sample of a metric since the test began, as `labels -> value`. */
const samplesOf = async (name: string, registry = api.metrics.registry): Promise<Record<string, number>> => {
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`))
  return Object.fromEntries(
    lines.map((line) => {
      const [, labels = '', value] = /^\w+\{(.*)\} (\S+)$/.exec(line)!
      return [labels.replaceAll('"', ''), value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value)]
    })
  )
}

test('a submission is counted by mode, backend and outcome', async () => {
  api.metrics.registry.resetMetrics()
  await ada.submit(submission())
  const id = await ada.submit(submission({ execution_mode: 'temporal' }))
  await ada.post(`/api/jobs/${id}/rerun`)
  const key = { 'idempotency-key': 'k1' }
  await ada.ask('POST', '/api/jobs/submit', submission(), key)
  await ada.ask('POST', '/api/jobs/submit', submission(), key)
  await ada.post('/api/jobs/submit', submission({ params: { shots: 0 } }))
  await ada.post('/api/jobs/submit', submission({ backend: 'no-such-backend' }))
  await api.ask('POST', '/api/jobs/submit', submission())
  expect(await samplesOf('qjs_submissions_total')).toEqual({
    'mode=direct,backend=local,outcome=accepted': 2,
    'mode=temporal,backend=local,outcome=accepted': 2,
    'mode=none,backend=none,outcome=repeated': 1,
    'mode=none,backend=none,outcome=validation_error': 1,
    'mode=none,backend=none,outcome=backend_unknown': 1,
    'mode=none,backend=none,outcome=unauthorized': 1
  })
})

test('callers cannot create metric labels', async () => {
  api.metrics.registry.resetMetrics()
  for (let at = 0; at < 20; at++)
    await ada.post('/api/jobs/submit', submission({ backend: `made-up-${at}`, execution_mode: `made-up-${at}` }))
  expect(Object.values(await samplesOf('qjs_submissions_total'))).toEqual([20])
  expect(await api.metrics.registry.metrics()).not.toContain('made-up')
})

test('a refusal because of money is counted by the exceeded limit', async () => {
  api.metrics.registry.resetMetrics()
  await sql`update backends set task_fee_micro = 150000000 where slug = 'local'`
  try {
    await ada.post('/api/jobs/submit', submission({ max_cost_usd: 1 }))
    await ada.post('/api/jobs/submit', submission())
    await sql`update backends set task_fee_micro = 60000000 where slug = 'local'`
    await ada.submit(submission())
    await ada.post('/api/jobs/submit', submission())
  } finally {
    await sql`update backends set task_fee_micro = 0 where slug = 'local'`
  }
  expect(await samplesOf('qjs_budget_rejections_total')).toEqual({
    'limit=max_cost': 1,
    'limit=per_job': 1,
    'limit=daily': 1
  })
  expect(await samplesOf('qjs_submissions_total')).toMatchObject({
    'mode=direct,backend=local,outcome=budget_exceeded': 3
  })
})

test("the metrics of the service's state match the database", async () => {
  await sql`delete from outbox`
  await sql`truncate jobs cascade`
  // Neither due nor without a delivery at any time, so that no late nudge changes the rows.
  const not_before = new Date(Date.now() + 3_600_000).toISOString()
  const [waiting, held, later] = [
    await ada.submit(submission({ not_before })),
    await ada.submit(submission({ not_before })),
    await ada.submit(submission({ execution_mode: 'temporal', not_before }))
  ]
  await sql`update outbox set deliveries = 1, due_at = now() - interval '1000 seconds', next_at = now() - interval '500 seconds'
    where job_id = ${waiting}`
  await sql`update outbox set deliveries = 1, held_reason = 'concurrency_limit', due_at = now(), next_at = now() + interval '1 hour'
    where job_id = ${held}`
  expect(later).toBeDefined()
  const sweep = { periodSeconds: 10, error: null, handled: 1, findings: ['a figure differs'] }
  await recordSweep(db, { name: 'money', ...sweep })
  await sql`update sweeps set succeeded_at = now() - interval '300 seconds' where name = 'money'`
  await recordSweep(db, { name: 'leases', ...sweep, error: 'away' })

  const registry = new Registry()
  const refresh = createStateMetrics(registry, db)
  // A scrape gives up a slow database, whose figures the next one has.
  await eventually(async () => {
    await refresh()
    return (await registry.getSingleMetricAsString('qjs_state_known')).includes('qjs_state_known 1')
  })
  const about = (value: number) => expect.closeTo(value, -2)
  expect(await samplesOf('qjs_jobs', registry)).toMatchObject({
    'engine=direct,status=pending': 2,
    'engine=temporal,status=pending': 1,
    'engine=direct,status=running': 0,
    'engine=temporal,status=cancelling': 0
  })
  expect(await samplesOf('qjs_queue_jobs', registry)).toEqual({
    'engine=direct,reason=ready': 1,
    'engine=direct,reason=concurrency_limit': 1,
    'engine=temporal,reason=ready': 0,
    'engine=temporal,reason=not_before': 1
  })
  expect(await samplesOf('qjs_queue_age_seconds', registry)).toMatchObject({
    'engine=direct,reason=ready': about(1000),
    'engine=temporal,reason=not_before': 0
  })
  expect(await samplesOf('qjs_outbox_rows', registry)).toEqual({ 'kind=start': 3, 'kind=cancel': 0 })
  expect(await samplesOf('qjs_outbox_age_seconds', registry)).toEqual({ 'kind=start': about(500), 'kind=cancel': 0 })
  expect(await samplesOf('qjs_sweep_success_age_seconds', registry)).toEqual({
    'sweep=money': about(300),
    'sweep=leases': Number.POSITIVE_INFINITY
  })
  expect(await samplesOf('qjs_sweep_findings', registry)).toMatchObject({ 'sweep=money': 1 })
})

test('the state is read once for all scrapes within a few seconds', async () => {
  let statements = 0
  const counted = new Proxy(db, {
    get: (target, key) => {
      if (key === 'execute') statements++
      const value = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
  await serviceState(counted)
  const ofOneRead = statements
  const refresh = createStateMetrics(new Registry(), counted)
  const began = performance.now()
  for (let time = 0; time < 2; time++) await Promise.all(Array.from({ length: 50 }, () => refresh()))
  const reads = (statements - ofOneRead) / ofOneRead
  expect(reads).toBeGreaterThan(0)
  expect(reads).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 5_000))
})

test('without the database, a scrape responds in time without the figures', async () => {
  const away = connect(`postgres://nobody@${await deadAddress()}/none`, { max: 1 })
  const registry = new Registry()
  const refresh = createStateMetrics(registry, away.db)
  const began = performance.now()
  await refresh()
  // After which Prometheus gives up a scrape.
  expect(performance.now() - began).toBeLessThan(10_000)
  expect(await registry.metrics()).toMatch(/^qjs_state_known 0$/m)
  expect(await samplesOf('qjs_queue_age_seconds', registry)).toEqual({})
  await away.close()
})

test('a hanging database is given up, and old figures are not shown as current ones', async () => {
  const registry = new Registry()
  const pool = connect(api.database.url, { max: 1 })
  let release = () => {}
  const busy = pool.sql.begin(() => new Promise<void>((resolve) => (release = resolve)))
  const refresh = createStateMetrics(registry, pool.db)
  const began = performance.now()
  await Promise.all([refresh(), refresh()])
  // After which Prometheus gives up a scrape.
  expect(performance.now() - began).toBeLessThan(10_000)
  expect(await registry.metrics()).toMatch(/^qjs_state_known 0$/m)
  release()
  await busy
  await pool.close()
})
