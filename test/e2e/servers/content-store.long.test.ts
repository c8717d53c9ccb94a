// The whole service with a content store: what moved there is the same to every reader, and jobs do not depend on it.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type S3Server, startS3Server } from '../../support/content-store/s3-server.js'
import { hasS3Server, s3Test } from '../../support/content-store/s3-test.js'
import { eventually } from '../../support/eventually.js'
import { startPlatform } from '../../support/stack/platform.js'

const soon = {
  CONTENT_STORE_AFTER_SECONDS: '1',
  CONTENT_STORE_BOTH_SECONDS: '1',
  CONTENT_STORE_UNNAMED_SECONDS: '1',
  CONTENT_STORE_SWEEP_SECONDS: '1'
}
/** A result of some 200 KB. */
const wide = {
  backend: 'local',
  inline_code: 'def main():\n    return {"text": "x" * 200_000}\n',
  framework: 'marqov',
  params: { shots: 1 },
  execution_mode: 'temporal'
}

let server: S3Server
let platform: Awaited<ReturnType<typeof startPlatform>>
beforeAll(async () => {
  if (!hasS3Server) return
  server = await startS3Server('service')
  const SECRETS_KEYS = `test:${randomBytes(32).toString('base64')}`
  platform = await startPlatform(
    'content-store',
    {},
    {
      ...server.environment(),
      ...soon,
      SECRETS_KEYS,
      AUDIT_CHECKPOINTS_FILE: 'content-store'
    }
  )
}, 180_000)
afterAll(async () => {
  await platform?.close()
  await server?.close()
})

const textOf = async (path: string): Promise<string> => {
  const response = await platform.call('GET', path)
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

async function finished(): Promise<string> {
  const id = await platform.submit(wide)
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', error: null })
  return id
}

async function sealed(jobId: string): Promise<string> {
  const created = await platform.call('POST', '/api/capsules/from-job', { job_id: jobId })
  const { capsule_id: capsule } = (await created.json()) as { capsule_id: string }
  const response = await platform.call('POST', `/api/capsules/${capsule}/seal`, { exit_code: 0 })
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  return capsule
}

const isMoved = async (id: string): Promise<boolean> => {
  const rows = await platform.connection.db.execute<{ moved: boolean }>(
    sql`select bool_and(content is null) as moved from artifacts where job_id = ${id} and size_bytes >= 65536`
  )
  return rows[0]!.moved
}

const moved = (id: string) => eventually(() => isMoved(id), { timeoutMs: 60_000, message: async () => platform.logs() })

s3Test(
  'a result is the same before and after it moved, alone, within its job, and in an exported capsule',
  async () => {
    const id = await finished()
    const readers = [`/api/jobs/${id}/result`, `/api/jobs/${id}`]
    const before = await Promise.all(readers.map(textOf))
    await moved(id)
    expect(await Promise.all(readers.map(textOf))).toEqual(before)
    const capsule = await sealed(id)
    const exported = async () =>
      Buffer.from(await (await platform.call('GET', `/api/capsules/${capsule}/export`)).arrayBuffer())
    const packageBefore = await exported()
    const files = () =>
      platform.connection.db.execute(
        sql`select from capsule_files where capsule_id = ${capsule} and size_bytes >= 65536 and content is not null`
      )
    expect((await files()).length).toBeGreaterThan(0)
    await eventually(async () => (await files()).length === 0, {
      timeoutMs: 30_000,
      message: async () => platform.logs()
    })
    expect((await exported()).equals(packageBefore)).toBe(true)
  },
  120_000
)

s3Test(
  'the audit checkpoint of a seal is in the store, where the api compares it',
  async () => {
    await sealed(await finished())
    const outside = async () => JSON.parse(await textOf('/api/team/audit/verify'))
    const proof = await eventually(async () => {
      const report = await outside()
      return report.checkpoints_outside.checkpoints > 0 && report
    })
    expect(proof).toMatchObject({ ok: true, checkpoints_outside: { compared: true, reason: null } })
  },
  60_000
)

s3Test(
  'jobs end while the store is frozen, a moved result says that it is away, and all is there afterwards',
  async () => {
    const id = await finished()
    const before = await textOf(`/api/jobs/${id}/result`)
    await moved(id)
    server.signal('SIGSTOP')
    let meanwhile: string
    try {
      meanwhile = await finished()
      const away = await platform.call('GET', `/api/jobs/${id}`)
      expect([away.status, away.headers.get('retry-after'), away.headers.get('x-error-code')]).toEqual([
        503,
        expect.stringMatching(/^\d+$/),
        'content_store_unavailable'
      ])
      await textOf(`/api/jobs/${meanwhile}/result`)
    } finally {
      server.signal('SIGCONT')
    }
    expect(await textOf(`/api/jobs/${id}/result`)).toBe(before)
    await moved(meanwhile)
  },
  120_000
)

s3Test(
  'a worker that is killed while it moves leaves every result whole, and no object that nothing names',
  async () => {
    const ids = [await finished()]
    for (let round = 0; round < 4; round++) {
      ids.push(await finished())
      await platform.kill('worker')
      await platform.start.worker()
    }
    for (const id of ids) await moved(id)
    for (const id of ids) expect(await textOf(`/api/jobs/${id}/result`)).toContain('x'.repeat(200_000))
    const { db } = platform.connection
    const unnamed = () => db.execute(sql`select from unnamed_objects`)
    await eventually(async () => (await unnamed()).length === 0)
    // A file of an earlier test's capsule can still be on its way.
    await eventually(async () => {
      const rows = await db.execute<{ key: string }>(sql`
        select object_key as key from artifacts where object_key is not null
        union all select object_key from capsule_files where object_key is not null`)
      const contents = (await server.keys()).filter((key) => !key.startsWith('audit-checkpoints/'))
      expect(contents.sort()).toEqual(rows.map(({ key }) => key).sort())
      return true
    })
  },
  400_000
)
