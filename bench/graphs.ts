// Graphs of tasks, from the call to the result, against the public SDK with its own worker on the same Temporal server. Both
// run the same files in turns. A large graph is measured alone: its time, its histories, and the memory of the processes.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { projectRoot } from '../apps/cli/stack/project.js'
import { isFinal, type JobStatus } from '../domain/jobs/job-status.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { memoryOf } from './support/process-load.js'
import { median, printTable, spread } from './support/table.js'

const ROUNDS = 5
/** How many times the SDK's rate; for one task, the goal is its time. */
const GOAL = 5
const LIMIT_MS = 600_000
const WARM_UP_SUFFIX = ' warm-up'

const programs = [
  { name: 'one Bell task', file: 'graph_bell.py', tasks: 1 },
  { name: '50 tasks and a join', file: 'graph_fan_out.py', tasks: 51 },
  { name: 'chain of 20', file: 'graph_chain.py', tasks: 20 }
]
const pathOf = (file: string) => join(projectRoot, 'bench/programs', file)

export async function benchGraphs(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_graphs', stack.executors.real)
  try {
    const worker = await platform.startWorker()
    // The first graphs warm up connections, code and the executor's children; they are not counted.
    for (const { file } of programs) await runGraph(platform, file)
    const seconds = new Map(programs.map(({ file }) => [file, { ours: [] as number[], sdk: [] as number[] }]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const [file, spent] of await sdkSeconds(stack.temporalAddress)) seconds.get(file)!.sdk.push(spent)
      for (const { file } of programs) seconds.get(file)!.ours.push((await runGraph(platform, file)).seconds)
    }
    const rows: string[][] = []
    for (const { name, file, tasks } of programs) {
      const spent = seconds.get(file)!
      const [ours, theirs] = [median(spent.ours), median(spent.sdk)]
      const ratio = theirs / ours
      const goal = tasks === 1 ? 1 : GOAL
      rows.push([
        name,
        theirs.toFixed(2),
        ours.toFixed(2),
        (tasks / theirs).toFixed(1),
        (tasks / ours).toFixed(1),
        spread(spent.sdk, 2),
        spread(spent.ours, 2),
        `${ratio.toFixed(1)}x (goal ${goal}x: ${ratio >= goal ? 'reached' : 'missed'})`
      ])
    }
    printTable(
      'Graphs of tasks',
      ['graph', 'SDK s', 'here s', 'SDK tasks/s', 'tasks/s', 'SDK lowest-highest s', 'here lowest-highest s', 'ratio'],
      rows
    )
    const apiBefore = memoryOf(platform.apiPid)
    const workerBefore = memoryOf(worker.pid)
    const large = await runGraph(platform, 'graph_large.py')
    printTable(
      'A graph of 2,000 tasks',
      ['seconds', 'tasks/s', 'executions', 'events', 'largest history', 'worker MiB', 'api MiB'],
      [
        [
          large.seconds.toFixed(1),
          (2_000 / large.seconds).toFixed(1),
          ...(await historyOf(stack.temporalAddress, large.id)),
          `${workerBefore} -> ${memoryOf(worker.pid)}`,
          `${apiBefore} -> ${memoryOf(platform.apiPid)}`
        ]
      ]
    )
  } finally {
    await platform.close()
  }
}

async function runGraph(platform: BenchPlatform, file: string): Promise<{ id: string; seconds: number }> {
  const headers = { cookie: platform.cookie, 'content-type': 'application/json' }
  const began = performance.now()
  const body = {
    inline_code: readFileSync(pathOf(file), 'utf8'),
    framework: 'marqov',
    backend: 'local',
    execution_mode: 'temporal',
    params: { shots: 1000 }
  }
  const submitted = await fetch(`${platform.base}/api/jobs/submit`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body)
  })
  const { job_id: id } = (await submitted.json()) as { job_id: string }
  while (true) {
    const response = await fetch(`${platform.base}/api/jobs/${id}/status?wait=20`, { headers })
    const { status, result } = (await response.json()) as { status: JobStatus; result: unknown }
    if (status === 'completed') return { id, seconds: (performance.now() - began) / 1000 }
    if (isFinal(status)) throw new Error(`${file} is ${status}: ${JSON.stringify(result)}`)
    if (performance.now() - began > LIMIT_MS) throw new Error(`${file} is not completed after ${LIMIT_MS / 1000} s`)
  }
}

/** Seconds of each program with the SDK's own worker, after a run of each that is not counted. */
async function sdkSeconds(address: string): Promise<Map<string, number>> {
  const named = (suffix: string) => programs.map(({ file }) => [file + suffix, { path: pathOf(file), params: {} }])
  const wanted = Object.fromEntries([...named(WARM_UP_SUFFIX), ...named('')])
  const child = spawn(join(projectRoot, '.venv/bin/python'), [join(projectRoot, 'test/marqov/reference.py')], {
    stdio: ['pipe', 'pipe', 'ignore']
  })
  child.stdin.end(JSON.stringify({ address, programs: wanted }))
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  const seconds = new Map<string, number>()
  for (const line of text.trim().split('\n')) {
    const result = JSON.parse(line) as { name: string; seconds?: number; raised?: string }
    if (result.seconds === undefined) throw new Error(`the SDK failed on ${result.name}: ${result.raised}`)
    if (!result.name.endsWith(WARM_UP_SUFFIX)) seconds.set(result.name, result.seconds)
  }
  return seconds
}

/** The number of executions of the job's workflow, all their events, and the bytes of the largest history. */
async function historyOf(address: string, jobId: string): Promise<string[]> {
  const connection = await Connection.connect({ address })
  try {
    const client = new Client({ connection })
    let events = 0
    let largest = 0
    let executions = 0
    for await (const { historySize, historyLength } of client.workflow.list({
      query: `WorkflowId = "job-${jobId}"`
    })) {
      executions += 1
      events += historyLength
      largest = Math.max(largest, historySize ?? 0)
    }
    return [String(executions), String(events), `${(largest / 1024 / 1024).toFixed(1)} MiB`]
  } finally {
    await connection.close()
  }
}
