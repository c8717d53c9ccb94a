// The real parts that all tests of one run share: Postgres, Redis, Temporal, one executor. Each test file creates its
// own database, queue prefix and task queue on them.
//
// A run lives in .test/runs/<process id>, so concurrent runs in one folder do not meet. The next run removes what a
// killed run left there; its processes are stopped by their watchdog at once.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { DataDir, newSecret, readStackFile, stopProcesses } from '../../../apps/cli/stack/data-dir.js'
import type { Child, StackContext } from '../../../apps/cli/stack/parts/child.js'
import { startExecutor } from '../../../apps/cli/stack/parts/executor.js'
import { startPostgres } from '../../../apps/cli/stack/parts/postgres.js'
import { type PostgresHome, postgresHome } from '../../../apps/cli/stack/parts/postgres-home.js'
import { startRedis } from '../../../apps/cli/stack/parts/redis.js'
import { startTemporal } from '../../../apps/cli/stack/parts/temporal.js'
import { projectRoot, projectVersion } from '../../../apps/cli/stack/project.js'
import { Watchdog } from '../../../apps/cli/stack/watchdog.js'
import { migrate } from '../../../db/migrate.js'
import { readMigrations, readSeedVersions } from '../../../db/schema/migration-files.js'
import { isRunning, readHolder, startOf } from '../../../tools/process-lock.mjs'
import { startQueryRecorder } from './query-recorder.js'
import { writeRelease } from './recorded-queries.js'

const templateDatabase = 'qjs_template'
const testFolder = join(projectRoot, '.test')
const runsFolder = join(testFolder, 'runs')

export interface SharedStack {
  /** The environment variables for the tests. */
  env: Record<string, string>
  stop(): Promise<void>
}

/**
 * Boots the parts and creates the migrated template database. When one part fails, all are stopped again.
 * @param files the patterns of the test files that run.
 */
export async function startSharedStack(files: string[]): Promise<SharedStack> {
  await removeDeadRuns()
  const folder = join(runsFolder, String(process.pid))
  const dataDir = await DataDir.hold(folder, 'npm test')
  const home = postgresHome(dataDir.path)
  const ending = new AbortController()
  const watchdog = new Watchdog()
  const context: StackContext = { logFile: (part) => dataDir.logFile(part), watchdog, signal: ending.signal }
  const running: Child[] = []
  const noted = async <Running extends Child>(start: Promise<Running>): Promise<Running> => {
    const child = await start
    running.push(child)
    dataDir.noteProcess(child.name, child.pid)
    return child
  }
  let recording: Awaited<ReturnType<typeof record>> | null = null
  const stop = async () => {
    await recording?.close()
    await Promise.all(running.map((child) => child.stop()))
    watchdog.close()
    dataDir.release()
    removeRun(folder, home)
  }

  const token = newSecret()
  const starts = [
    noted(startPostgres({ home, durable: false }, context)).then(async (server) => {
      if (process.env.RECORD_QUERIES === '1') recording = await record(server.url, files)
      const url = recording?.url ?? server.url
      return { TEST_PG_URL: url, TEST_TEMPLATE_DB: await makeTemplate(url) }
    }),
    noted(startRedis({ dataDir: null, password: newSecret() }, context)).then(({ url }) => ({ TEST_REDIS_URL: url })),
    noted(startTemporal({ database: null }, context)).then(({ address }) => ({ TEST_TEMPORAL_ADDRESS: address })),
    noted(startExecutor({ token }, context)).then(({ url }) => ({ TEST_EXECUTOR_URL: url, TEST_EXECUTOR_TOKEN: token }))
  ]
  try {
    const parts = await Promise.all(starts)
    const env = Object.assign({ TEST_WORKFLOW_BUNDLE: join(projectRoot, 'dist/workflows.js') }, ...parts)
    return {
      env,
      async stop() {
        recording?.write()
        await stop()
      }
    }
  } catch (error) {
    ending.abort(new Error('Another part of the test stack did not start.'))
    await Promise.allSettled(starts)
    await stop()
    throw error
  }
}

/** Records the queries of the product, for the file that test/db/schema/released-queries.ts reads. */
async function record(serverUrl: string, files: string[]) {
  const recorder = await startQueryRecorder(serverUrl)
  return {
    url: recorder.url,
    write: () =>
      writeRelease(join(projectRoot, 'test/db/schema/fixtures/released-queries.json'), {
        release: projectVersion(),
        recordedFrom: `npm test -- ${files.join(' ')}`,
        migrations: readMigrations().length,
        seeds: readSeedVersions(),
        queries: recorder.queries()
      }),
    close: () => recorder.close()
  }
}

async function makeTemplate(serverUrl: string): Promise<string> {
  const sql = postgres(serverUrl, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(`create database ${templateDatabase}`)
  } finally {
    await sql.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${templateDatabase}`
  await migrate(url.href)
  return templateDatabase
}

async function removeDeadRuns(): Promise<void> {
  if (!existsSync(runsFolder)) return
  for (const name of readdirSync(runsFolder)) {
    const folder = join(runsFolder, name)
    const holder = readHolder(join(folder, 'holder.json'))
    // Until it has its lock, a run is known only by the name of its folder.
    if (holder ? isRunning(holder) : startOf(Number(name)) !== null) continue
    await stopProcesses(readStackFile(folder)?.processes ?? {})
    const pointer = join(folder, 'postgres-location')
    if (existsSync(pointer)) rmSync(readFileSync(pointer, 'utf8').trim(), { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  }
}

// The logs of the last run are kept for finding the cause of a failure.
function removeRun(folder: string, home: PostgresHome): void {
  const logs = join(testFolder, 'logs')
  rmSync(logs, { recursive: true, force: true })
  renameSync(join(folder, 'logs'), logs)
  rmSync(dirname(home.data), { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}
