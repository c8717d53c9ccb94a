// Starts the whole stack in the order of its dependencies, keeps it running, and stops it in reverse.
//
//   Postgres, Redis, Temporal, executor   at the same time, with the emulators if requested
//   worker, api                           when all of those respond
//
// Stop order: worker (finishes or returns what it runs), api, emulators, executor, Temporal, Redis, Postgres.
import { openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { createLog } from '../../../services/telemetry/log.js'
import { checkpointsFile } from './checkpoints-file.js'
import { DataDir, newSecret } from './data-dir.js'
import { checkDatabaseReachable } from './operator-database.js'
import type { Child, StackContext } from './parts/child.js'
import {
  type EmulatedProvider,
  emulatorVariables,
  removeEmulatorsFile,
  startEmulatorsPart,
  writeEmulatorsFile
} from './parts/emulators.js'
import { startExecutor } from './parts/executor.js'
import { freePort } from './parts/free-port.js'
import { startNodeApp } from './parts/node-app.js'
import { checkRedisReachable, checkTemporalReachable } from './parts/operator-parts.js'
import { ensureDatabase, startPostgres } from './parts/postgres.js'
import { postgresHome } from './parts/postgres-home.js'
import { untilReady } from './parts/readiness.js'
import { startRedis } from './parts/redis.js'
import { SupervisedPart } from './parts/supervised-part.js'
import { startTemporal, type TemporalPorts } from './parts/temporal.js'
import { projectRoot } from './project.js'
import { ensureSecretKeys } from './secret-keys.js'
import { checkAddress, loopbackFor, type StackSettings, urlHost } from './settings.js'
import { Watchdog } from './watchdog.js'

export type PartName = 'postgres' | 'redis' | 'temporal' | 'executor' | 'emulators' | 'worker' | 'api'

const stopOrder: PartName[] = ['worker', 'api', 'emulators', 'executor', 'temporal', 'redis', 'postgres']
/** A log can exceed its limit by what its process writes in this time. */
const logCheckMs = 2_000

export interface Stack {
  /** The api's address for other programs on this machine. */
  readonly callUrl: string
  /** The configured address: http://HOST:PORT. */
  readonly url: string
  /** Null if the operator's Temporal has no known web interface. */
  readonly temporalUiUrl: string | null
  readonly databaseUrl: string
  readonly dataDir: DataDir
  /** The present process of a part; null if the operator runs it. */
  pid(part: PartName): number | null
  /** Stops everything in order. Safe to call twice. */
  stop(): Promise<void>
  /** Kills everything. */
  kill(): void
}

export interface StackStart {
  settings: StackSettings
  /** The command that starts the stack, for the error message of a second start. */
  purpose: string
  /** Prints a line for the user. */
  report(line: string): void
  /** On abort, the start stops and so does everything that it has started. */
  signal: AbortSignal
}

/**
 * Starts the stack and resolves when everything responds. If a part cannot be started, everything is stopped again and the
 * error names the part, with the last lines of its log.
 */
export async function startStack({ settings, purpose, report, signal }: StackStart): Promise<Stack> {
  // Before the port: a second start of one folder is more often the reason than another program.
  DataDir.assertFree(settings.dataDir)
  await checkAddress(settings)
  signal.throwIfAborted()
  const dataDir = await DataDir.hold(settings.dataDir, purpose)
  const stack = new RunningStack(settings, dataDir, report)
  const onAbort = () => void stack.stop()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await stack.start()
    signal.throwIfAborted()
    return stack
  } catch (error) {
    await stack.stop()
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

class RunningStack implements Stack {
  url = ''
  callUrl = ''
  databaseUrl = ''
  temporalUiUrl: string | null = null
  private readonly parts = new Map<PartName, SupervisedPart>()
  private readonly starts: Promise<SupervisedPart>[] = []
  private readonly ending = new AbortController()
  private readonly context: StackContext
  private readonly log: Logger
  /** On whose disks the stack writes. */
  private readonly storageFolders: string[]
  private readonly logTimer: NodeJS.Timeout
  private stopping: Promise<void> | null = null

  constructor(
    private readonly settings: StackSettings,
    readonly dataDir: DataDir,
    private readonly print: (line: string) => void
  ) {
    this.storageFolders = [dataDir.path]
    this.log = createLog('supervisor', 'info', openSync(dataDir.logFile('supervisor'), 'a', 0o600))
    this.context = {
      logFile: (part) => dataDir.logFile(part),
      watchdog: new Watchdog(),
      signal: this.ending.signal
    }
    this.logTimer = setInterval(() => this.rotateLogs(), logCheckMs)
    this.logTimer.unref()
  }

  async start(): Promise<void> {
    const { settings, dataDir } = this
    const executorToken = newSecret()
    removeEmulatorsFile(dataDir.path)
    const [databaseUrl, redisUrl, temporal, executorUrl, emulated] = await Promise.all([
      settings.databaseUrl ? checkDatabaseReachable(settings.databaseUrl) : this.startDatabase(),
      settings.redisUrl ? checkRedisReachable(settings.redisUrl) : this.startRedis(),
      settings.temporalAddress ? this.useTemporal(settings.temporalAddress) : this.startTemporal(),
      this.startExecutor(executorToken),
      settings.emulatedHardware ? this.startEmulators() : null
    ])
    this.databaseUrl = databaseUrl
    this.temporalUiUrl = temporal.uiUrl
    const metricsPort = settings.metricsPort ?? (await freePort())
    const workerMetricsPort = settings.workerMetricsPort ?? (await freePort())
    const port = settings.port || (await freePort(settings.host))
    this.url = `http://${urlHost(settings.host)}:${port}`
    this.callUrl = `http://${loopbackFor(settings.host)}:${port}`
    const env: NodeJS.ProcessEnv = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      TEMPORAL_ADDRESS: temporal.address,
      ...(temporal.uiUrl && { TEMPORAL_UI_URL: temporal.uiUrl }),
      EXECUTOR_URL: executorUrl,
      EXECUTOR_TOKEN: executorToken,
      METRICS_HOST: settings.metricsHost,
      METRICS_PORT: String(metricsPort),
      WORKER_METRICS_PORT: String(workerMetricsPort),
      SECRETS_KEYS: settings.secretsKeys ?? ensureSecretKeys(dataDir.path),
      DATA_DIR: dataDir.path,
      PUBLIC_URL: settings.publicUrl ?? this.callUrl,
      MAIL_DIR: settings.mailDir ?? dataDir.folder('mail'),
      STORAGE_FOLDERS: this.storageFolders.join(':'),
      AUDIT_CHECKPOINTS_FILE: settings.auditCheckpointsFile ?? checkpointsFile(dataDir.path),
      ...(emulated && emulatorVariables(emulated))
    }
    await Promise.all([this.startWorker(env), this.startApi(env, port)])
    await untilReady(this.callUrl, this.ending.signal)
    if (emulated) writeEmulatorsFile(dataDir.path, emulated)
    const metricsUrl = (port: number) => `http://${loopbackFor(settings.metricsHost)}:${port}/metrics`
    dataDir.noteAddresses({
      url: this.callUrl,
      public_url: settings.publicUrl,
      temporal_ui_url: temporal.uiUrl ?? undefined,
      database_url: databaseUrl,
      redis_url: redisUrl,
      temporal_address: temporal.address,
      executor_url: executorUrl,
      api_metrics_url: metricsUrl(metricsPort),
      worker_metrics_url: metricsUrl(workerMetricsPort)
    })
  }

  /** Prints a line for the user and logs it. */
  private report(line: string, level: 'info' | 'warn' = 'info'): void {
    this.print(line)
    this.log[level](line)
  }

  private rotateLogs(): void {
    try {
      this.dataDir.rotateLogs()
    } catch (err) {
      this.log.warn({ err }, 'a log could not be rotated')
    }
  }

  private noteProcess(name: PartName, pid: number): void {
    try {
      this.dataDir.noteProcess(name, pid)
    } catch (error) {
      // A full disk. The watchdog still stops the part if this process is killed.
      this.report(`${name} is not recorded in stack.json: ${(error as Error).message}`, 'warn')
    }
  }

  pid(part: PartName): number | null {
    return this.parts.get(part)?.current.pid ?? null
  }

  stop(): Promise<void> {
    this.stopping ??= this.stopInOrder()
    return this.stopping
  }

  kill(): void {
    this.ending.abort(new Error('The stack was stopped.'))
    for (const part of this.parts.values()) part.current.kill()
    this.context.watchdog.close()
  }

  private async stopInOrder(): Promise<void> {
    clearInterval(this.logTimer)
    this.ending.abort(new Error('The start was interrupted.'))
    // Starts in progress notice the abort and stop their own child.
    await Promise.allSettled(this.starts)
    for (const name of stopOrder) await this.parts.get(name)?.stop()
    removeEmulatorsFile(this.dataDir.path)
    this.context.watchdog.close()
    this.dataDir.release()
    this.log.info('everything is stopped')
  }

  private async run<Running extends Child>(name: PartName, begin: () => Promise<Running>): Promise<Running> {
    const began = Date.now()
    let first: Running | undefined
    const beginAndKeep = async () => {
      const child = await begin()
      first ??= child
      return child
    }
    const start = SupervisedPart.start(beginAndKeep, {
      report: (line, level) => this.report(line, level),
      running: (child) => this.noteProcess(name, child.pid),
      signal: this.ending.signal
    })
    this.starts.push(start)
    this.parts.set(name, await start)
    this.report(`${name.padEnd(9)} ready (${((Date.now() - began) / 1000).toFixed(1)} s)`)
    return first as Running
  }

  // Other parts know a part by its port, so a restart uses the port of the first start.

  private async startDatabase(): Promise<string> {
    const home = postgresHome(this.dataDir.path)
    this.storageFolders.push(dirname(home.data))
    if (home.note) this.report(home.note)
    let port: number | undefined
    const { url } = await this.run('postgres', async () => {
      const postgres = await startPostgres({ home, port, durable: true }, this.context)
      port = postgres.port
      return postgres
    })
    return ensureDatabase(url, 'qjs', newSecret())
  }

  private async startRedis(): Promise<string> {
    const dataDir = this.dataDir.folder('redis')
    const password = newSecret()
    let port: number | undefined
    const { url } = await this.run('redis', async () => {
      const redis = await startRedis({ dataDir, password, port }, this.context)
      port = redis.port
      return redis
    })
    return url
  }

  private startTemporal(): Promise<{ address: string; uiUrl: string | null }> {
    const database = join(this.dataDir.folder('temporal'), 'temporal.db')
    const { temporalUiPort: uiPort } = this.settings
    const earlierUiPort = this.dataDir.readPort('temporal-ui')
    let ports: TemporalPorts | undefined
    return this.run('temporal', async () => {
      const temporal = await startTemporal({ database, ports, uiPort, earlierUiPort }, this.context)
      ports = temporal.ports
      this.dataDir.keepPort('temporal-ui', ports.ui)
      return temporal
    })
  }

  private async useTemporal(address: string): Promise<{ address: string; uiUrl: string | null }> {
    return { address: await checkTemporalReachable(address), uiUrl: this.settings.temporalUiUrl ?? null }
  }

  private async startExecutor(token: string): Promise<string> {
    const { executorSlots: slots, logLevel } = this.settings
    let port: number | undefined
    const { url } = await this.run('executor', async () => {
      const executor = await startExecutor({ token, slots, logLevel, port }, this.context)
      port = executor.port
      return executor
    })
    return url
  }

  private async startEmulators(): Promise<EmulatedProvider[]> {
    let ports: string | undefined
    const { providers } = await this.run('emulators', async () => {
      const emulators = await startEmulatorsPart({ ports }, this.context)
      ports = emulators.ports
      return emulators
    })
    return providers
  }

  private startWorker(env: NodeJS.ProcessEnv): Promise<Child> {
    const own = { ...env, WORKFLOW_BUNDLE: join(projectRoot, 'dist/workflows.js') }
    return this.run('worker', () =>
      // No other part uses the port of its health route, so each start can take any free port.
      startNodeApp(
        { name: 'worker', env: own, portVariable: 'WORKER_HEALTH_PORT', probeHost: '127.0.0.1' },
        this.context
      )
    )
  }

  private async startApi(env: NodeJS.ProcessEnv, port: number): Promise<void> {
    const { host, rateLimitScale } = this.settings
    const own = { ...env, HOST: host, RATE_LIMIT_SCALE: rateLimitScale ?? '1' }
    await this.run('api', () =>
      startNodeApp({ name: 'api', env: own, port, portVariable: 'PORT', probeHost: loopbackFor(host) }, this.context)
    )
  }
}
