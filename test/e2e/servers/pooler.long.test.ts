// The whole service through PgBouncer, in both of its modes: api and worker start, and jobs of both modes run to their end.
import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { hasPgbouncer, poolerTest, startPgbouncer } from '../../support/postgres/pgbouncer.js'
import { createPooledRole } from '../../support/postgres/pooled-role.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'

const JOBS = 12

describe.each([
  // An api holds 10 sessions at most, and a worker 22.
  ['session', 40, {}],
  ['transaction', 4, { DATABASE_PREPARED_STATEMENTS: 'off', DATABASE_POOL_MAX: '12' }]
] as const)('in %s mode', (mode, size, settings) => {
  let platform: Platform
  let pooler: Awaited<ReturnType<typeof startPgbouncer>>
  let role: Awaited<ReturnType<typeof createPooledRole>>

  beforeAll(async () => {
    if (!hasPgbouncer) return
    role = await createPooledRole({ withTimeouts: true })
    pooler = await startPgbouncer({ mode, size, server: role.server })
    platform = await startPlatform(`pooler_${mode}`, {}, (databaseUrl) => ({
      DATABASE_URL: pooler.through(databaseUrl),
      ...(mode === 'transaction' && { DATABASE_DIRECT_URL: databaseUrl }),
      DATABASE_STARTUP_PARAMETERS: 'off',
      ...settings
    }))
  }, 120_000)
  afterAll(async () => {
    await platform?.close()
    await pooler?.stop()
    await role?.drop()
  })

  poolerTest('jobs of both modes are submitted, dispatched, followed and completed', async () => {
    const ids = await Promise.all(
      Array.from({ length: JOBS }, (_, n) =>
        platform.submit(submission({ execution_mode: n % 2 ? 'direct' : 'temporal', params: { shots: 50 } }))
      )
    )
    for (const id of ids) expect(await platform.ended(id)).toMatchObject({ status: 'completed', error: null })
    expect([...(await ledgerMismatches(platform.connection.db))]).toEqual([])
    await eventually(async () => (await platform.call('GET', '/readyz')).status === 200)
  })

  poolerTest('a job is cancelled, and a repeated request is done once', async () => {
    const body = submission({ execution_mode: 'temporal', params: { shots: 50 } })
    const headers = { 'idempotency-key': 'through-the-pooler' }
    const both = await Promise.all([1, 2].map(() => platform.call('POST', '/api/jobs/submit', body, headers)))
    const [one, other] = (await Promise.all(both.map((response) => response.json()))) as { job_id: string }[]
    expect(one).toEqual(other)
    await platform.call('POST', `/api/jobs/${one!.job_id}/cancel`)
    expect(['cancelled', 'completed']).toContain((await platform.ended(one!.job_id)).status)
  })
})
