// `npm start` with every real part. The tests share one data folder and follow one stack through its life, in order.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { eventually } from '../support/eventually.js'
import { longTest } from '../support/lane.js'
import { checkedLines } from '../support/log-line.js'
import { QjobStart, stillRunning } from '../support/stack/qjob-start.js'

const bootLimitMs = 200_000
const parts = ['api', 'executor', 'postgres', 'redis', 'temporal', 'worker']

let dataDir: string
let stack: QjobStart
const others: QjobStart[] = []

const other = (folder: string, env: Record<string, string> = {}): QjobStart => {
  const start = new QjobStart(folder, env)
  others.push(start)
  return start
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'qjs-stack-'))
  // As an earlier version left them.
  chmodSync(dataDir, 0o755)
  mkdirSync(join(dataDir, 'logs'), { mode: 0o755 })
  stack = new QjobStart(dataDir)
  await stack.ready()
}, bootLimitMs)

afterAll(async () => {
  await Promise.all([stack, ...others].map((start) => start.end()))
  await stack.until('the end of every part', () => stillRunning(stack.processes()).length === 0)
  const pointer = join(dataDir, 'postgres-location')
  if (existsSync(pointer)) rmSync(readFileSync(pointer, 'utf8').trim(), { recursive: true })
  rmSync(dataDir, { recursive: true })
})

test('stdout has exactly one line with the addresses of the service and the Temporal UI, and both respond', async () => {
  const line = /^ready: (http:\/\/127\.0\.0\.1:\d+) +Temporal UI: (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(stack.stdout)
  if (!line) throw new Error(`stdout is ${JSON.stringify(stack.stdout)}; stderr:\n${stack.stderr}`)
  await eventually(async () => (await fetch(`${line[1]}/readyz`)).status === 200)
  expect((await fetch(`${line[2]}/`)).status).toBe(200)
  expect(Object.keys(stack.processes()).sort()).toEqual(parts)
})

test('every file and folder of the data folder is closed to other users of the machine', () => {
  const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
  for (const path of ['logs/api.log', 'logs/worker.log', 'logs/temporal.log', 'temporal/temporal.db', 'redis', 'keys'])
    expect(paths).toContain(path)
  expect(paths.filter((path) => (statSync(join(dataDir, path)).mode & 0o077) !== 0)).toEqual([])
  // For the user of Postgres, the folder itself can be passed through.
  expect(statSync(dataDir).mode & 0o066).toBe(0)
})

test('API and worker serve their metrics locally at the addresses in stack.json', async () => {
  const { api_metrics_url, worker_metrics_url } = readStackFile(dataDir)!
  for (const url of [api_metrics_url!, worker_metrics_url!]) {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
    expect(await (await fetch(url)).text()).toMatch(/^qjs_state_known 1$/m)
  }
})

test('a second start on the same data folder, with the same port, says what runs there and disturbs nothing', async () => {
  const before = stack.processes()
  const second = other(dataDir, { PORT: new URL(readStackFile(dataDir)!.url!).port })
  expect(await second.exited).toBe(1)
  expect(second.stderr).toContain(
    `already runs at ${readStackFile(dataDir)!.url} ("npm start", process ${stack.pid}, since `
  )
  expect(second.stdout).toBe('')
  expect(stack.processes()).toEqual(before)
  expect(stillRunning(before).sort()).toEqual(parts)
})

test('a port that another folder has taken is named with the service on it before anything is started', async () => {
  const port = /:(\d+) /.exec(stack.stdout)?.[1] as string
  const folder = join(dataDir, 'never-made')
  const second = other(folder, { PORT: port })
  expect(await second.exited).toBe(1)
  expect(second.stderr).toContain(`Port ${port} on 127.0.0.1 is taken by a quantum job service (version `)
  expect(existsSync(folder)).toBe(false)
})

test('a port for the Temporal UI that is taken is named with its setting before anything is started', async () => {
  const port = new URL(readStackFile(dataDir)!.temporal_ui_url!).port
  const folder = join(dataDir, 'never-made')
  const second = other(folder, { TEMPORAL_UI_PORT: port })
  expect(await second.exited).toBe(1)
  expect(existsSync(folder)).toBe(false)
  expect(second.stderr).toContain(`Port ${port} is taken by another program: choose another with TEMPORAL_UI_PORT.`)
})

longTest(
  'a killed part is restarted on its old port with a message',
  async () => {
    const url = /ready: (\S+)/.exec(stack.stdout)?.[1]
    for (const name of ['executor', 'postgres', 'api']) {
      const before = stack.processes()[name]
      process.kill(before?.pid as number, 'SIGKILL')
      // The executor imports every framework again: ten seconds on an idle machine.
      await stack.until(`the restart of ${name}`, () => stack.stderr.includes(`${name} is running again`), bootLimitMs)
      expect(stack.stderr).toContain(`${name} stopped (signal SIGKILL): restarting in 0.2 s (restart 1)`)
      // The list of processes is written after the message.
      await stack.until(`the new process of ${name}`, () => stack.processes()[name]?.pid !== before?.pid)
    }
    const ready = async () => (await fetch(`${url}/readyz`).then((answer) => answer.json())) as { parts: object }
    await eventually(async () => {
      const states = Object.values((await ready()).parts).map(({ state }: { state: string }) => state)
      expect(states).toEqual(['ok', 'ok', 'ok', 'ok'])
      return true
    })
  },
  400_000
)

// The next test continues with the stack that this one starts.
test(
  'a supervisor killed with SIGKILL leaves nothing running, and the next start works with the same Temporal UI',
  async () => {
    const before = stack.processes()
    const ui = readStackFile(dataDir)!.temporal_ui_url
    stack.signal('SIGKILL')
    await stack.exited
    await stack.until('the end of every part', () => stillRunning(before).length === 0)

    const emulated = [process.execPath, join(projectRoot, 'tools/qjob.mjs'), 'start', '--emulated-hardware']
    stack = new QjobStart(dataDir, {}, emulated)
    expect(await stack.ready()).toMatch(/^ready: /)
    // Saved links to workflows stay valid.
    expect(readStackFile(dataDir)!.temporal_ui_url).toBe(ui)
  },
  bootLimitMs
)

test('emulated hardware is listed in a file, configured for API and worker, and keeps its address over a restart', async () => {
  const file = join(dataDir, 'emulators.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const [{ provider, base_url, credentials }] = JSON.parse(readFileSync(file, 'utf8')).providers
  expect(provider).toBe('ionq')
  const headers = { authorization: `apiKey ${credentials.api_key}` }
  const answers = async () => (await fetch(`${base_url}/whoami`, { headers })).status === 200
  expect(await answers()).toBe(true)
  for (const part of ['api', 'worker']) {
    const variables = readFileSync(`/proc/${stack.processes()[part]?.pid}/environ`, 'utf8').split('\0')
    expect(variables).toEqual(expect.arrayContaining([`IONQ_API_URL=${base_url}`, 'EMULATED_HARDWARE=1']))
  }
  const before = stack.processes().emulators?.pid
  process.kill(before as number, 'SIGKILL')
  const isBack = async () => stack.processes().emulators?.pid !== before && (await answers())
  await eventually(isBack)
}, 120_000)

test('supervisor and emulators log lines of the same form as the other processes', () => {
  for (const process of ['supervisor', 'emulators', 'api', 'worker', 'executor']) {
    const lines = checkedLines(process, readFileSync(join(dataDir, 'logs', `${process}.log`), 'utf8'))
    expect(lines.length).toBeGreaterThan(0)
  }
})

test('Ctrl-C stops every part, leaves nothing running and releases the data folder', async () => {
  const before = stack.processes()
  stack.signal('SIGINT')
  expect(await stack.exited).toBe(0)
  expect(stillRunning(before)).toEqual([])
  expect(existsSync(join(dataDir, 'holder.json'))).toBe(false)
  expect(existsSync(join(dataDir, 'emulators.json'))).toBe(false)
  expect(stack.stdout.match(/^ready: /gm)).toHaveLength(1)
}, 120_000)

longTest(
  'a SIGTERM to npm during a start reaches the stack, which leaves nothing running',
  async () => {
    stack = new QjobStart(dataDir, {}, ['npm', 'start', '--silent'])
    // The list of processes can be written after the message.
    const hasPart = () => stack.stderr.includes(' ready (') && Object.keys(stack.processes()).length > 0
    await stack.until('a first part', hasPart)
    const begun = stack.processes()
    process.kill(stack.pid, 'SIGTERM')
    await stack.exited
    expect(stack.stderr).toContain('The start was interrupted; everything is stopped.')
    expect(Object.keys(begun).length).toBeGreaterThan(0)
    expect(stillRunning({ ...begun, ...stack.processes() })).toEqual([])
    expect(stack.stdout).toBe('')
  },
  120_000
)
