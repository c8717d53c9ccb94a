// A platform of a test's own: API and worker as processes that can be killed, with their own database, task queue and
// queue prefix on the shared servers, or with their own servers when the test takes those away.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, type Exit, logTail, type StackContext } from '../../../apps/cli/stack/parts/child.js'
import { type Executor, startExecutor } from '../../../apps/cli/stack/parts/executor.js'
import { freePort } from '../../../apps/cli/stack/parts/free-port.js'
import { startNodeApp } from '../../../apps/cli/stack/parts/node-app.js'
import { startRedis } from '../../../apps/cli/stack/parts/redis.js'
import { startTemporal } from '../../../apps/cli/stack/parts/temporal.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { Watchdog } from '../../../apps/cli/stack/watchdog.js'
import { createAccessCode } from '../../../db/accounts/accounts.js'
import type { Connection } from '../../../db/client.js'
import { isFinal, type JobStatus } from '../../../domain/jobs/job-status.js'
import { JsonText } from '../../../domain/json/json-text.js'
import { eventually } from '../eventually.js'
import { connectForTest, createTestDatabase } from './database.js'

const TOKEN = 'a-token-of-the-tests-own'

export interface JobRecord {
  id: string
  status: JobStatus
  error: { code: string; message: string } | null
  result: { counts: Record<string, number>; [key: string]: unknown } | null
  attempts: number
  team_id: string
  workflow: { id: string } | null
  cancel: { outcome: string | null } | null
  queue: { reason: string } | null
  [key: string]: unknown
}

/** The platform's own parts, which a test can take away and bring back. */
export interface OwnParts {
  redis?: boolean
  /** With further settings of the server, `key=value`. */
  temporal?: boolean | { settings: string[] }
  executor?: boolean | OwnExecutor
  /** One more, of which both processes know. */
  executor2?: OwnExecutor
  /** The port through which the shared database is reached, for a test that cuts its connections. */
  databasePort?: number
  /** Settings of the worker alone. */
  workerSettings?(databaseUrl: string): Record<string, string>
}

interface OwnExecutor {
  slots: number
  engines?: string
  drainSeconds?: number
}

/** @param env settings of api and worker. @param logFile of all parts; default: one file for each. */
export async function startPlatform(
  file: string,
  own: OwnParts = {},
  env: Record<string, string> | ((databaseUrl: string) => Record<string, string>) = {},
  logFile?: string
) {
  const database = await createTestDatabase(file)
  const connection = connectForTest(database.url, { max: 5 })
  const folder = join(projectRoot, '.test', 'platforms', database.name)
  mkdirSync(folder, { recursive: true })
  const ending = new AbortController()
  const watchdog = new Watchdog()
  const context: StackContext = {
    logFile: (part) => logFile ?? join(folder, `${part}.log`),
    watchdog,
    signal: ending.signal
  }

  const temporalFile = join(folder, 'temporal.db')
  const parts: Partial<
    Record<'redis' | 'temporal' | 'executor' | 'executor2' | 'api' | 'worker' | 'secondWorker', Child>
  > = {}
  const redis = own.redis ? await startRedis({ dataDir: null, password: TOKEN }, context) : null
  const temporalOptions = {
    database: temporalFile,
    // The usual port of the web interface goes to the next stack of another test while this server is down.
    uiPort: await freePort(),
    ...(typeof own.temporal === 'object' && own.temporal)
  }
  const temporal = own.temporal ? await startTemporal(temporalOptions, context) : null
  const optionsOf = (one: boolean | OwnExecutor | undefined) => ({
    token: TOKEN,
    warmFrameworks: false as const,
    ...(typeof one === 'object' && { ...one, slots: String(one.slots) })
  })
  const executorOptions = optionsOf(own.executor)
  const secondOptions = { ...optionsOf(own.executor2), name: 'executor2' }
  let executor: Executor | null = own.executor ? await startExecutor(executorOptions, context) : null
  let executor2: Executor | null = own.executor2 ? await startExecutor(secondOptions, context) : null
  Object.assign(parts, {
    ...(redis && { redis }),
    ...(temporal && { temporal }),
    ...(executor && { executor }),
    ...(executor2 && { executor2 })
  })

  const databaseUrl = new URL(database.url)
  if (own.databasePort !== undefined) databaseUrl.port = String(own.databasePort)
  const settings: Record<string, string> = {
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: redis?.url ?? process.env.TEST_REDIS_URL!,
    TEMPORAL_ADDRESS: temporal?.address ?? process.env.TEST_TEMPORAL_ADDRESS!,
    TEMPORAL_TASK_QUEUE: database.name,
    QUEUE_PREFIX: database.name,
    // Tests send more requests than users.
    RATE_LIMIT_SCALE: '0',
    EXECUTOR_URL: [executor?.url ?? process.env.TEST_EXECUTOR_URL!, ...(executor2 ? [executor2.url] : [])].join(','),
    EXECUTOR_TOKEN: executor ? TOKEN : process.env.TEST_EXECUTOR_TOKEN!,
    WORKFLOW_BUNDLE: process.env.TEST_WORKFLOW_BUNDLE!,
    LOG_LEVEL: 'info',
    NODE_OPTIONS: '',
    HOST: '127.0.0.1',
    ...(typeof env === 'function' ? env(database.url) : env)
  }
  const startWorker = (changed: Record<string, string>, logFile = context.logFile) =>
    startNodeApp(
      { name: 'worker', env: { ...settings, ...changed }, portVariable: 'WORKER_HEALTH_PORT', probeHost: '127.0.0.1' },
      { ...context, logFile }
    )
  const start = {
    /** @param port default: a free one. */
    api: async (port?: number) => {
      parts.api = await startNodeApp(
        {
          name: 'api',
          env: settings,
          portVariable: 'PORT',
          probeHost: '127.0.0.1',
          ...(port !== undefined && { port })
        },
        context
      )
      base = `http://127.0.0.1:${(parts.api as Child & { port: number }).port}`
    },
    /** @param changed settings that differ from those of the platform. */
    worker: async (changed: Record<string, string> = {}) => {
      parts.worker = await startWorker(changed)
    },
    /** Beside the first one. */
    secondWorker: async (changed: Record<string, string> = {}) => {
      parts.secondWorker = await startWorker(changed, () => join(folder, 'second-worker.log'))
    },
    redis: async () => {
      parts.redis = await startRedis({ dataDir: null, password: TOKEN, port: redis!.port }, context)
    },
    temporal: async () => {
      parts.temporal = await startTemporal({ ...temporalOptions, ports: temporal!.ports }, context)
    },
    executor: async () => {
      executor = await startExecutor({ ...executorOptions, port: executor!.port }, context)
      parts.executor = executor
    },
    executor2: async () => {
      executor2 = await startExecutor({ ...secondOptions, port: executor2!.port }, context)
      parts.executor2 = executor2
    }
  }
  let base = ''
  let cookie = ''
  await Promise.all([start.api(), start.worker(own.workerSettings?.(database.url))])
  await signUp()

  async function signUp(): Promise<void> {
    const code = await createAccessCode(connection.db, { uses: 1 })
    const response = await call('POST', '/api/auth/sign-up', {
      email: 'ada@example.org',
      password: 'correct horse',
      code
    })
    cookie = response.headers.get('set-cookie')!.split(';')[0]!
  }

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {}
  ): Promise<Response> {
    return fetch(`${base}${path}`, {
      method,
      headers: {
        ...(cookie && { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers
      },
      ...(body === undefined ? {} : { body: body instanceof JsonText ? body.text : JSON.stringify(body) })
    })
  }

  const platform = {
    call,
    connection: connection as Connection,
    settings,
    start,
    temporalFile,
    redisUrl: settings.REDIS_URL!,
    /** Of the API that was started last. */
    url: (): string => base,
    workerUrl: (): string => `http://127.0.0.1:${(parts.worker as Child & { port: number }).port}`,

    /** Kills a part at once, like a crash. */
    async kill(name: keyof typeof parts): Promise<void> {
      parts[name]!.kill()
      await parts[name]!.exited
    },

    /** Its connections stay open, and nothing answers, until `thaw`. */
    freeze: (name: keyof typeof parts): void => void process.kill(-parts[name]!.pid, 'SIGSTOP'),
    thaw: (name: keyof typeof parts): void => void process.kill(-parts[name]!.pid, 'SIGCONT'),
    /** Tells a part to stop, without waiting for it. */
    tellToStop: (name: keyof typeof parts): boolean => process.kill(parts[name]!.pid, 'SIGTERM'),

    /** What an executor says of itself. */
    async ofExecutor(name: 'executor' | 'executor2', path: '/health' | '/metrics'): Promise<string> {
      const { url } = name === 'executor' ? executor! : executor2!
      return (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })).text()
    },

    /** Stops a part in an orderly way. */
    async stop(name: keyof typeof parts): Promise<void> {
      await parts[name]!.stop()
    },

    /** Sends a signal alone. */
    signal(name: keyof typeof parts, signal: NodeJS.Signals): void {
      process.kill(parts[name]!.pid, signal)
    },

    exited: (name: keyof typeof parts): Promise<Exit> => parts[name]!.exited,

    /** @returns the id of the accepted job. */
    async submit(body: Record<string, unknown>): Promise<string> {
      const response = await call('POST', '/api/jobs/submit', body)
      const answer = (await response.json()) as { job_id?: string }
      if (response.status !== 201) throw new Error(`submit answered ${response.status}: ${JSON.stringify(answer)}`)
      return answer.job_id!
    },

    async job(id: string): Promise<JobRecord> {
      return (await (await call('GET', `/api/jobs/${id}`)).json()) as JobRecord
    },

    async attempts(id: string): Promise<{ number: number; state: string; error: { code: string } | null }[]> {
      const answer = (await (await call('GET', `/api/jobs/${id}/attempts`)).json()) as { attempts: never[] }
      return answer.attempts
    },

    /** The record once it satisfies `holds`. */
    until(id: string, holds: (job: JobRecord) => boolean, timeoutMs = 120_000): Promise<JobRecord> {
      return eventually(
        async () => {
          const job = await platform.job(id)
          return holds(job) ? job : null
        },
        { timeoutMs, message: async () => `job ${id}: ${JSON.stringify(await platform.job(id))}\n${platform.logs()}` }
      )
    },

    ended: (id: string, timeoutMs?: number): Promise<JobRecord> =>
      platform.until(id, (job) => isFinal(job.status), timeoutMs),

    /** Waits until the executor has accepted the job's run. */
    accepted: (id: string, count = 1): Promise<JobRecord> => platform.until(id, (job) => job.attempts >= count),

    logs: (): string =>
      (['worker', 'api'] as const)
        .map((name) => `${name}:\n${parts[name] ? logTail(parts[name].log, 25) : ''}`)
        .join('\n'),

    /** The log lines of API and worker, by time. */
    logLines: (): Record<string, unknown>[] =>
      (['api', 'worker'] as const)
        // Without the line that is being written.
        .flatMap((part) => platform.logText(part).split('\n').slice(0, -1))
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
        .sort((one, other) => one.time.localeCompare(other.time)),

    logText: (part: 'api' | 'worker' | 'executor'): string => readFileSync(join(folder, `${part}.log`), 'utf8'),

    async close(): Promise<void> {
      ending.abort(new Error('the test is over'))
      for (const name of ['worker', 'secondWorker', 'api', 'executor', 'executor2', 'temporal', 'redis'] as const)
        parts[name]?.kill()
      await Promise.all(Object.values(parts).map((part) => part.exited))
      watchdog.close()
      await connection.close()
      await database.drop()
    }
  }
  return platform
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>
