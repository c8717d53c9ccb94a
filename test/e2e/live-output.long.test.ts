// What a program prints reaches its followers while it runs: in both modes, of tasks and scripts, after a broken connection,
// when it floods, and when it is replayed.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import { OUTPUT_BYTES_MAX } from '../../domain/jobs/value-limits.js'
import { submission } from '../support/jobs/builders.js'
import { historyText } from '../support/stack/history-text.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

let platform: Platform

beforeAll(async () => {
  platform = await startPlatform('live-output', { executor: true })
}, 180_000)

afterAll(() => platform.close())

interface Event {
  seq: number
  type: 'status' | 'attempt' | 'output'
  status?: JobStatus
  task?: string
  attempt?: number
  text?: string
  offset?: number
  truncated_bytes?: number
}

/** The events of a job as they arrive, after the event `last`, until the final status or the end of the loop. */
async function* events(id: string, last = 0): AsyncGenerator<Event> {
  const response = await platform.call('GET', `/api/jobs/${id}/events`, undefined, { 'last-event-id': `${last}` })
  expect(response.status).toBe(200)
  let rest = ''
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as Event
  }
}

/** Reads events until one satisfies `holds`, then breaks the connection. */
async function eventsUntil(id: string, holds: (event: Event) => boolean, last = 0): Promise<Event[]> {
  const seen: Event[] = []
  for await (const event of events(id, last)) {
    seen.push(event)
    if (holds(event)) break
  }
  return seen
}
const allEvents = (id: string, last = 0) => eventsUntil(id, () => false, last)
const textOf = (seen: Event[], task?: string): string =>
  seen.map((event) => (event.type === 'output' && event.task === task ? event.text : '')).join('')
const submit = (inline_code: string, execution_mode: string, framework = 'qiskit') =>
  platform.submit(submission({ inline_code, framework, execution_mode }))
const stdoutFile = async (id: string) => (await platform.call('GET', `/api/jobs/${id}/artifacts/stdout.txt`)).text()
const cancel = (id: string) => platform.call('POST', `/api/jobs/${id}/cancel`)

const CIRCUIT = 'from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n'
/** Prints a line, and further ones until it is stopped. */
const COUNTS = 'import itertools, time\nfor n in itertools.count():\n    print("line", n)\n    time.sleep(0.05)\n'

test.each([['direct'], ['temporal']])(
  'a followed job of mode %s shows its lines while it runs, and its final status last',
  async (mode) => {
    const id = await submit(COUNTS, mode)
    const seen = await eventsUntil(id, ({ text }) => /^line 0\n/m.test(text ?? ''))
    expect((await platform.job(id)).status).toBe('running')
    const more = await eventsUntil(id, ({ type }) => type === 'output', seen.at(-1)!.seq)
    expect((await platform.job(id)).status).toBe('running')
    const following = allEvents(id, more.at(-1)!.seq)
    await cancel(id)
    const whole = [...seen, ...more, ...(await following)]
    expect(whole.map(({ seq }) => seq)).toEqual(whole.map((_, at) => at + 1))
    expect(whole.at(-1)).toMatchObject({ type: 'status', status: 'cancelled' })
    expect(whole.filter(({ type }) => type === 'output').every(({ attempt }) => attempt === 1)).toBe(true)
    const lines = textOf(whole).trimEnd().split('\n')
    expect(lines).toEqual(lines.map((_, n) => `line ${n}`))
    expect(await allEvents(id)).toEqual(whole)
  },
  60_000
)

test('the text that was followed is the file that the finished job keeps', async () => {
  const id = await submit(`print("one\\0€")\nprint("two", end="")\n${CIRCUIT}`, 'direct')
  const seen = await allEvents(id)
  const { result } = await platform.job(id)
  expect([textOf(seen), await stdoutFile(id)]).toEqual(['one\ufffd€\ntwo', 'one\ufffd€\ntwo'])
  expect(result!.stdout).toBe(textOf(seen))
})

test('a job that prints nothing has no other events than before', async () => {
  const id = await platform.submit(submission({ execution_mode: 'direct' }))
  expect((await allEvents(id)).map(({ type, status }) => [type, status])).toEqual([
    ['status', 'pending'],
    ['status', 'running'],
    ['attempt', 'running'],
    ['attempt', 'running'],
    ['status', 'completed']
  ])
})

test('a program that floods is cut, with a count of what follows, and its job ends with the reason', async () => {
  const id = await submit('while True: print("x" * 999)\n', 'direct')
  const seen = await allEvents(id)
  expect(await platform.job(id)).toMatchObject({
    error: { message: expect.stringContaining('output limit of 16 MiB') }
  })
  const output = seen.filter(({ type }) => type === 'output')
  expect(textOf(seen)).toHaveLength(OUTPUT_BYTES_MAX)
  expect(output.at(-1)!.truncated_bytes).toBeGreaterThan(15 * 1024 * 1024)
  expect(output.length).toBeLessThan(20)
}, 60_000)

test('the output of tasks names the task', async () => {
  const program = `from marqov import task, workflow
@task
def say(n):
    print("task", n)
    return n
@workflow
def say_all():
    return [say(n) for n in range(3)]
async def main(client, params):
    print("before")
    said = await say_all().run(client)
    print("after")
    return {"said": said}
`
  const id = await submit(program, 'temporal', 'marqov')
  const seen = await allEvents(id)
  expect(seen.at(-1)).toMatchObject({ status: 'completed' })
  expect(textOf(seen)).toBe('before\nafter\n')
  const said = [1, 2, 3].map((n) => textOf(seen, `task_000${n}`))
  expect(said).toEqual(['task 0\n', 'task 1\n', 'task 2\n'])
  const { tasks } = (await (await platform.call('GET', `/api/jobs/${id}/tasks`)).json()) as {
    tasks: { stdout: string }[]
  }
  expect(tasks.map(({ stdout }) => stdout)).toEqual(said)
  expect(await stdoutFile(id)).toBe('before\nafter\n')
}, 60_000)

test('a script that is replayed after its process is lost shows its lines once', async () => {
  const program = `import time
from marqov import task, workflow
@task
def wait():
    print("waits")
    time.sleep(12)
    return 1
@workflow
def waiting():
    return wait()
async def main(client, params):
    print("before")
    one = await waiting().run(client)
    print("after")
    return {"one": one}
`
  const id = await submit(program, 'temporal', 'marqov')
  await eventsUntil(id, ({ text }) => text === 'waits\n')
  await platform.kill('executor')
  await platform.start.executor()
  const seen = await allEvents(id)
  expect(seen.at(-1)).toMatchObject({ status: 'completed' })
  expect(textOf(seen)).toBe('before\nafter\n')
  const ofTask = seen.filter(({ task, type }) => type === 'output' && task)
  expect(ofTask.map(({ attempt, text }) => [attempt, text])).toEqual([
    [1, 'waits\n'],
    [2, 'waits\n']
  ])
}, 180_000)

test('printed text is in no history of Temporal', async () => {
  const id = await submit(COUNTS.replace('line', 'canary'), 'temporal')
  await eventsUntil(id, ({ text }) => text?.startsWith('canary') === true)
  await cancel(id)
  await platform.ended(id)
  const connection = await Connection.connect({ address: platform.settings.TEMPORAL_ADDRESS! })
  try {
    const history = await new Client({ connection }).workflow.getHandle(`job-${id}`).fetchHistory()
    const text = historyText(history)
    expect([text.includes(id), text.includes('canary')]).toEqual([true, false])
  } finally {
    await connection.close()
  }
}, 60_000)

test('output that cannot be stored fails no job', async () => {
  const { sql } = platform.connection
  await sql.unsafe(`create function refuse_output() returns trigger language plpgsql as
    $$ begin raise exception 'no output today'; end $$`)
  await sql.unsafe(
    'create trigger refuse_output before insert on job_output for each row execute function refuse_output()'
  )
  try {
    const id = await submit(`print("one")\n${CIRCUIT}`, 'direct')
    const seen = await allEvents(id)
    expect(seen.at(-1)).toMatchObject({ status: 'completed' })
    expect([textOf(seen), await stdoutFile(id)]).toEqual(['', 'one\n'])
  } finally {
    await sql.unsafe('drop trigger refuse_output on job_output')
  }
}, 60_000)
