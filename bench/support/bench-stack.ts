// The servers that all benches share, and platforms (api and worker processes), each with its own database.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { DataDir } from '../../apps/cli/stack/data-dir.js'
import type { Child, StackContext } from '../../apps/cli/stack/parts/child.js'
import { startExecutor } from '../../apps/cli/stack/parts/executor.js'
import { type NodeApp, startNodeApp } from '../../apps/cli/stack/parts/node-app.js'
import { startPostgres } from '../../apps/cli/stack/parts/postgres.js'
import { postgresHome } from '../../apps/cli/stack/parts/postgres-home.js'
import { startRedis } from '../../apps/cli/stack/parts/redis.js'
import { startTemporal } from '../../apps/cli/stack/parts/temporal.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { Watchdog } from '../../apps/cli/stack/watchdog.js'
import { type Connection, connect } from '../../db/client.js'
import { migrate } from '../../db/migrate.js'
import { startNoOpExecutor } from './no-op-executor.js'

export const EXECUTOR_TOKEN = 'a-token-for-benches'
/** Of every user. */
export const BENCH_PASSWORD = 'a password of the bench'

export interface ExecutorAddress {
  name: 'no-op' | 'real'
  url: string
}

export interface BenchPlatform {
  settings: Record<string, string>
  connection: Connection
  base: string
  apiPid: number
  /** The Cookie header of a signed-in user. */
  cookie: string
  user: { id: string; email: string }
  /** Signs up another user and returns the Cookie header. */
  signUp(email: string): Promise<string>
  startWorker(): Promise<NodeApp>
  close(): Promise<void>
}

export interface BenchStack {
  redisUrl: string
  temporalAddress: string
  temporalPid: number
  executors: Record<'no-op' | 'real', ExecutorAddress>
  /** @param own additional settings of api and workers. @param root the folder of another commit, whose programs it runs. */
  platform(name: string, executor: ExecutorAddress, own?: Record<string, string>, root?: string): Promise<BenchPlatform>
  spawn: StackContext
  close(): Promise<void>
}

export async function startBenchStack(): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'qjs-bench-'))
  const dataDir = await DataDir.hold(join(folder, 'data'), 'npm run bench')
  const watchdog = new Watchdog()
  const context: StackContext = {
    logFile: (part) => dataDir.logFile(part),
    watchdog,
    signal: new AbortController().signal
  }
  const home = postgresHome(dataDir.path)
  const [server, redis, temporal, real, noOp] = await Promise.all([
    // Durable and on disk, as with npm start.
    startPostgres({ home, durable: true }, context),
    startRedis({ dataDir: mkdirIn(folder, 'redis'), password: EXECUTOR_TOKEN }, context),
    startTemporal({ database: join(mkdirIn(folder, 'temporal'), 'temporal.db') }, context),
    startExecutor({ token: EXECUTOR_TOKEN }, context),
    startNoOpExecutor()
  ])
  const children: Child[] = [real, temporal, redis, server]

  return {
    redisUrl: redis.url,
    temporalAddress: temporal.address,
    temporalPid: temporal.pid,
    executors: { 'no-op': { name: 'no-op', url: noOp.url }, real: { name: 'real', url: real.url } },
    spawn: context,

    async platform(name, executor, own = {}, root = projectRoot) {
      const database = await makeDatabase(server.url, name)
      // Another commit has its own migrations, which its api makes at its start.
      if (root === projectRoot) await migrate(database)
      const settings = {
        DATABASE_URL: database,
        REDIS_URL: redis.url,
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_TASK_QUEUE: name,
        QUEUE_PREFIX: name,
        EXECUTOR_URL: executor.url,
        EXECUTOR_TOKEN,
        WORKFLOW_BUNDLE: join(root, 'dist/workflows.js'),
        HOST: '127.0.0.1',
        LOG_LEVEL: 'warn',
        // The load exceeds the rate limits.
        RATE_LIMIT_SCALE: '0',
        ACCESS_CODES: 'off',
        ...own
      }
      const app = { env: settings, probeHost: '127.0.0.1', root }
      const api = await startNodeApp({ ...app, name: 'api', portVariable: 'PORT' }, context)
      const connection = connect(database, { max: 10 })
      const base = `http://127.0.0.1:${api.port}`
      const { cookie, user } = await signUp(base, 'bench@example.org')
      const workers: NodeApp[] = []
      return {
        settings,
        connection,
        base,
        apiPid: api.pid,
        cookie,
        user,
        signUp: async (email) => (await signUp(base, email)).cookie,
        async startWorker() {
          const worker = await startNodeApp({ ...app, name: 'worker', portVariable: 'WORKER_HEALTH_PORT' }, context)
          workers.push(worker)
          return worker
        },
        async close() {
          await Promise.all([api, ...workers].map((child) => child.stop()))
          await connection.close()
        }
      }
    },

    async close() {
      await noOp.close()
      for (const child of children) await child.stop()
      // If started by root, the cluster can be outside the folder, where its own user has access.
      rmSync(dirname(home.data), { recursive: true, force: true })
      watchdog.close()
      dataDir.release()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function mkdirIn(folder: string, name: string): string {
  mkdirSync(join(folder, name))
  return join(folder, name)
}

async function makeDatabase(serverUrl: string, name: string): Promise<string> {
  const sql = postgres(serverUrl, { max: 1 })
  await sql.unsafe(`create database ${name}`)
  await sql.end()
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

async function signUp(base: string, email: string): Promise<{ cookie: string; user: { id: string; email: string } }> {
  const response = await fetch(`${base}/api/auth/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: BENCH_PASSWORD })
  })
  if (response.status !== 201) throw new Error(`sign-up returned ${response.status}: ${await response.text()}`)
  const { user } = (await response.json()) as { user: { id: string; email: string } }
  return { cookie: response.headers.get('set-cookie')!.split(';')[0]!, user }
}
