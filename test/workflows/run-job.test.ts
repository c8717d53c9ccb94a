// Runs the workflows of jobs on the real development server, and replays the golden histories, which are kept for ever: a job
// of any earlier release can still run. A path without a history is recorded with RECORD_HISTORIES=1 npm test -- run-job;
// where a path has changed, its former history moves to histories/earlier first.
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Context } from '@temporalio/activity'
import { Client, Connection, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client'
import {
  ApplicationFailure,
  CancelledFailure,
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes
} from '@temporalio/common'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { NativeConnection, type ReplayError, Worker } from '@temporalio/worker'
import { providerQueueOf, scheduleQueueOf } from '../../domain/jobs/dispatch.js'
import { eventually } from '../support/eventually.js'
import { longTest, rowsOfLane } from '../support/lane.js'
import { quietTemporal } from '../support/stack/quiet-temporal.js'
import type { Path } from './path.js'
import { providerPaths } from './run-job-at-provider-paths.js'
import { paths as enginePaths } from './run-job-paths.js'
import { longPath, taskPaths } from './run-job-with-tasks-paths.js'
import { scriptPaths } from './run-script-at-provider-paths.js'
import { verificationPaths } from './verify-capsule-paths.js'

const paths = [...enginePaths, ...taskPaths, ...providerPaths, ...scriptPaths, ...verificationPaths]

const folder = fileURLToPath(new URL('./histories/', import.meta.url))
/** The SHA-256 of each. */
const keptFile = `${folder}kept.sha256`
const digestOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
const workflowBundle = { codePath: process.env.TEST_WORKFLOW_BUNDLE! }
const recording = process.env.RECORD_HISTORIES === '1'

/** The activities of each running workflow, by the workflow's id. */
const activitiesOf = new Map<string, Record<string, (...args: unknown[]) => unknown>>()
const activityNames = new Set([...paths, longPath].flatMap((path) => Object.keys(path.activities([]))))
const taskQueue = `run-job-${process.pid}-${Date.now()}`

/** Temporal's number for the type Keyword. */
const KEYWORD = 2

let native: NativeConnection
let client: Client
let workers: Worker[]
let working: Promise<unknown>

beforeAll(async () => {
  quietTemporal()
  native = await NativeConnection.connect({ address: process.env.TEST_TEMPORAL_ADDRESS! })
  client = new Client({ connection: await Connection.connect({ address: process.env.TEST_TEMPORAL_ADDRESS! }) })
  const shared = {
    connection: native,
    activities: Object.fromEntries(
      [...activityNames].map((name) => [
        name,
        (...args: unknown[]) => activitiesOf.get(Context.current().info.workflowExecution!.workflowId)![name]!(...args)
      ])
    ),
    maxHeartbeatThrottleInterval: '100ms',
    defaultHeartbeatThrottleInterval: '100ms'
  } as const
  workers = await Promise.all([
    Worker.create({ ...shared, taskQueue, workflowBundle }),
    Worker.create({ ...shared, taskQueue: providerQueueOf(taskQueue) }),
    Worker.create({ ...shared, taskQueue: scheduleQueueOf(taskQueue) })
  ])
  working = Promise.all(workers.map((worker) => worker.run()))
})

afterAll(async () => {
  for (const worker of workers) worker.shutdown()
  await working
  await native.close()
  await client.connection.close()
})

/** Paths that wait for seconds. */
const slow = [
  'provider-waited-for',
  'verification-with-the-database-away',
  'database-away-with-pauses',
  'cancelling-without-a-request',
  'task-tried-again'
]
const pathsOfLane = rowsOfLane(paths, ({ name }) => !slow.includes(name))

describe('a job takes the path that its steps and its operator choose', () => {
  test.each(pathsOfLane.map((path) => [path.name, path] as const))('%s', async (_name, path) => {
    const { answer, calls } = await run(path)
    expect({ answer, calls }).toEqual(path.expected)
  })
})

test('a local step that waits for the database holds no slot: its pauses are timers', async () => {
  const away = paths.find(({ name }) => name === 'database-away-at-every-step')!
  const { workflowId } = await run(away, 'pauses')
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory()
  // One for each of the two local activities that find the database away once.
  expect(events!.filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes)).toHaveLength(2)
})

test('the status of a job is in the search attribute with the prefix that its workflow was started with', async () => {
  const addAttribute = () =>
    client.connection.operatorService.addSearchAttributes({
      namespace: 'default',
      searchAttributes: { WfJobStatus: KEYWORD }
    })
  // Workers of the server learn of a new attribute some time later.
  await addAttribute()
  const failed = paths.find(({ name }) => name === 'failed')!
  let tries = 0
  const { workflowId } = await eventually(() => run(failed, `prefixed-${tries++}`, 'WfJobStatus').catch(() => null), {
    timeoutMs: 90_000
  })
  const { searchAttributes } = await client.workflow.getHandle(workflowId).describe()
  expect(searchAttributes).toMatchObject({ WfJobStatus: ['failed'] })
  expect(searchAttributes).not.toHaveProperty('JobStatus')
}, 120_000)

longTest(
  'a long history is continued by a new one, which runs the remaining tasks',
  async () => {
    const { answer, calls } = await run(longPath)
    expect({ answer, calls }).toEqual(longPath.expected)
  },
  120_000
)

describe('histories of earlier workers replay without a difference', () => {
  test('every path has a golden history', () => {
    const present = readdirSync(folder).filter((name) => name.endsWith('.json'))
    expect(present.sort()).toEqual(paths.map((path) => `${path.name}.json`).sort())
  })

  test('no history that was ever recorded is missing or changed', () => {
    const files = [...replayedNames.map((name) => readFileSync(`${folder}${name}.json`))]
    expect(files.map(digestOf).sort()).toEqual(readFileSync(keptFile, 'utf8').trim().split('\n').sort())
  })

  // Among them those of workflows that were completed whatever became of their jobs.
  const earlier = readdirSync(`${folder}earlier`).map((name) => `earlier/${name.replace('.json', '')}`)
  const replayedNames = [...paths.map(({ name }) => name), ...earlier]
  const replayed = new Map<string, ReplayError | undefined>()
  beforeAll(async () => {
    const histories = replayedNames.map((name) => ({ workflowId: name, history: recorded(name) }))
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories))
      replayed.set(workflowId, error)
  })

  test.each(replayedNames)('%s', (name) => {
    expect(replayed.has(name)).toBe(true)
    expect(replayed.get(name)).toBeUndefined()
  })

  test.each([
    [
      'provider-on-a-queue-of-its-own',
      '-providers',
      ['submitToProvider', 'followTask', 'collectResult'],
      ['prepareProgram']
    ],
    ['verification-on-a-queue-of-its-own', '-schedules', ['startScheduledRun', 'awaitRun'], []]
  ])('%s: no other kind of work keeps these steps waiting', (name, ending, own, shared) => {
    const queues = new Map<string, string>()
    for (const { activityTaskScheduledEventAttributes: scheduled } of recorded(name).events)
      if (scheduled) queues.set(scheduled.activityType.name, scheduled.taskQueue.name)
    const onOwn = [...queues].filter(([, queue]) => queue.endsWith(ending)).map(([step]) => step)
    expect(onOwn).toEqual(own)
    expect([...queues.keys()].filter((step) => !onOwn.includes(step))).toEqual(shared)
  })

  test('the replay refuses a history that the current workflow would not write', async () => {
    const history = recorded('completed')
    const scheduled = history.events.find((event: { activityTaskScheduledEventAttributes?: object }) =>
      Boolean(event.activityTaskScheduledEventAttributes)
    )
    scheduled.activityTaskScheduledEventAttributes.activityType.name = 'somethingElse'
    await expect(Worker.runReplayHistory({ workflowBundle }, history)).rejects.toThrow(/TMPRL1100|[Nn]ondeterminism/)
  })
})

const recorded = (name: string) => JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8'))

async function run(
  path: Path,
  as = path.name,
  statusAttribute = 'JobStatus'
): Promise<{ answer: string; calls: string[]; workflowId: string }> {
  const calls: string[] = []
  const workflowId = `${taskQueue}-${as}`
  activitiesOf.set(workflowId, path.activities(calls) as Record<string, (...args: unknown[]) => unknown>)
  const handle = await client.workflow.start(path.workflow, {
    args: path.args ?? [{ jobId: '01900000-0000-7000-8000-000000000000', generation: 1 }],
    taskQueue,
    workflowId,
    workflowExecutionTimeout: '120s',
    typedSearchAttributes: new TypedSearchAttributes([
      { key: defineSearchAttributeKey(statusAttribute, SearchAttributeType.KEYWORD), value: 'pending' }
    ])
  })
  await path.meanwhile?.(handle, calls)
  const answer = await answerOf(handle)
  const file = `${folder}${path.name}.json`
  if (recording && as === path.name && paths.includes(path) && !existsSync(file)) {
    // The process, machine and code path of an event do not matter to a replay.
    const history = historyToJSON(await handle.fetchHistory())
      .replaceAll(/"\d+@[^"]*"/g, '"worker"')
      .replaceAll(/"stackTrace":\s*"(?:[^"\\]|\\.)*"/g, '"stackTrace": ""')
    const text = `${JSON.stringify(JSON.parse(history), null, 1)}\n`
    writeFileSync(file, text)
    appendFileSync(keptFile, `${digestOf(text)}\n`)
  }
  return { answer, calls, workflowId }
}

async function answerOf(handle: WorkflowHandle): Promise<string> {
  try {
    const answer = (await handle.result()) as string
    return answer === 'failed' || answer === 'cancelled' ? `completed: ${answer}` : answer
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error
    if (error.cause instanceof CancelledFailure) return 'cancelled'
    return error.cause instanceof ApplicationFailure ? `failed: ${error.cause.type}` : String(error.cause)
  }
}
