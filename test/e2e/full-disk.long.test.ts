// A whole stack whose disk fills up: it says so, no part but the database stops, and everything continues with space.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import { createAccessCode } from '../../db/accounts/accounts.js'
import { connect } from '../../db/client.js'
import { eventually } from '../support/eventually.js'
import { asymmetricQiskit, submission } from '../support/jobs/builders.js'
import { QjobStart, stillRunning } from '../support/stack/qjob-start.js'

const folder = mkdtempSync(join(tmpdir(), 'qjs-full-disk-'))
const filler = join(folder, 'filler')
/** Only root can mount a small disk. */
const mounted = mount()
let stack: QjobStart
let url = ''
let cookie = ''

function mount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=700m,mode=711', 'none', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { cookie, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) })
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, never> }
}

beforeAll(async () => {
  if (!mounted) return
  // That of the executor too.
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  chmodSync(temporary, 0o1777)
  stack = new QjobStart(folder, { TMPDIR: temporary })
  await stack.ready()
  const { url: own, database_url } = readStackFile(folder)!
  url = own!
  const connection = connect(database_url!, { max: 1 })
  const code = await createAccessCode(connection.db, { uses: 1 })
  await connection.close()
  const signedUp = await call('POST', '/api/auth/sign-up', {
    email: 'a@example.org',
    password: 'a long password',
    code
  })
  cookie = signedUp.headers.get('set-cookie')!.split(';')[0]!
}, 240_000)

afterAll(async () => {
  if (mounted) {
    stack.signal('SIGINT')
    await stack.exited
    await stack.end()
    const pointer = join(folder, 'postgres-location')
    if (existsSync(pointer)) rmSync(readFileSync(pointer, 'utf8').trim(), { recursive: true })
    execFileSync('umount', ['-l', folder])
  }
  rmSync(folder, { recursive: true })
}, 180_000)

const fill = () => {
  try {
    for (;;) writeFileSync(filler, Buffer.alloc(1024 * 1024), { flag: 'a' })
  } catch {
    // Full.
  }
  try {
    for (;;) writeFileSync(filler, Buffer.alloc(512), { flag: 'a' })
  } catch {
    // To the last byte.
  }
}

const name = 'a full disk is named to callers and in /readyz, loses no job, and stops no part but the database'
test(mounted ? name : `${name} (not checked: this user cannot mount a small disk)`, async () => {
  if (!mounted) return
  const job = submission({ execution_mode: 'temporal', inline_code: asymmetricQiskit(), framework: 'qiskit' })
  const slow = submission({
    execution_mode: 'temporal',
    inline_code: `import time\ntime.sleep(8)\n${asymmetricQiskit()}`,
    framework: 'qiskit'
  })
  const under = (await call('POST', '/api/jobs/submit', slow)).body.job_id as unknown as string
  await eventually(async () => (await call('GET', `/api/jobs/${under}`)).body.status === 'running', {
    timeoutMs: 60_000
  })
  const before = stack.processes()
  fill()

  const refusals: unknown[] = []
  await eventually(
    async () => {
      const { status, body } = await call('POST', '/api/jobs/submit', {
        ...job,
        inline_code: `${asymmetricQiskit()}\n# ${randomBytes(20_000).toString('hex')}`
      })
      if (status !== 201) refusals.push([status, body])
      return status === 503 && String(body.error).includes('disk of this service is full')
    },
    { timeoutMs: 60_000, everyMs: 100, message: () => JSON.stringify(refusals.slice(-5)) }
  )
  const ready = await call('GET', '/readyz')
  expect((ready.body.parts as unknown as { database: object }).database).toMatchObject({
    state: expect.stringMatching(/^(degraded|down)$/),
    message: expect.stringContaining('free space on it')
  })
  // Longer than the run.
  await new Promise((resolve) => setTimeout(resolve, 12_000))
  const changed = Object.keys(before).filter((part) => stack.processes()[part]?.pid !== before[part]?.pid)
  const stopped = [...stack.stderr.matchAll(/^(\w+) stopped \(/gm)].map(([, part]) => part)
  expect([...changed, ...stopped].filter((part) => part !== 'postgres')).toEqual([])

  rmSync(filler)
  const { job_id } = await eventually(
    async () => {
      const { status, body } = await call('POST', '/api/jobs/submit', job)
      return status === 201 && body
    },
    { timeoutMs: 90_000, everyMs: 500, message: () => stack.stderr }
  )
  for (const id of [under, job_id])
    await eventually(async () => (await call('GET', `/api/jobs/${id}`)).body.status === 'completed', {
      timeoutMs: 120_000,
      message: async () => JSON.stringify((await call('GET', `/api/jobs/${id}`)).body)
    })
  await eventually(async () => (await call('GET', '/readyz')).body.status === ('ok' as never), { timeoutMs: 90_000 })
  expect(stillRunning(stack.processes()).length).toBeGreaterThan(5)
}, 400_000)
