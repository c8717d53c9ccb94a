// A cluster on one machine: two apis behind haproxy, three workers, two executors with different engines, PgBouncer before
// Postgres, and TLS wherever the service connects to a server.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent } from 'undici'
import { newSecret } from '../../apps/cli/stack/data-dir.js'
import type { StackContext } from '../../apps/cli/stack/parts/child.js'
import { emulatorVariables } from '../../apps/cli/stack/parts/emulators.js'
import { startExecutor } from '../../apps/cli/stack/parts/executor.js'
import { freePort } from '../../apps/cli/stack/parts/free-port.js'
import { startNodeApp } from '../../apps/cli/stack/parts/node-app.js'
import { ensureDatabase, startPostgres } from '../../apps/cli/stack/parts/postgres.js'
import { postgresHome } from '../../apps/cli/stack/parts/postgres-home.js'
import { startRedis } from '../../apps/cli/stack/parts/redis.js'
import { startTemporal } from '../../apps/cli/stack/parts/temporal.js'
import { Watchdog } from '../../apps/cli/stack/watchdog.js'
import { startEmulators } from '../../apps/emulators/emulators.js'
import { type Connection, connect } from '../../db/client.js'
import { connectForTest } from '../support/stack/database.js'
import { createAuthority } from '../support/tls/certificates.js'
import { postgresOverTls } from '../support/tls/postgres-over-tls.js'
import { tlsBefore } from '../support/tls/tls-before.js'
import { isBalanced, startBalancer, startPooler } from './balancer.js'
import { createPart, type Part } from './part.js'
import { type Release, thisRelease } from './release.js'

/** How long the server remembers a worker (five minutes by default), and how often a worker asks for work. */
const TEMPORAL_SETTINGS = ['matching.PollerHistoryTTL="10s"', 'matching.longPollExpirationInterval="3s"']
export const DEPLOYMENT = 'cluster'
/** Far more than the balancer needs to notice. */
const DRAIN_SECONDS = 10
/** The second executor has no state vectors: circuits on these go to the first one alone. */
const ENGINES_OF_SECOND = 'density_matrix,mps,noisy'

export interface Cluster {
  /** Of the balancer. */
  base: string
  /** Trusts the cluster's authority. */
  agent: Agent
  /** Past the pooler, without TLS. */
  connection: Connection
  temporalAddress: string
  emulators: Awaited<ReturnType<typeof startEmulators>>
  parts: Record<'apis' | 'workers' | 'executors' | 'servers', Part[]>
  /** Another worker, of any release. */
  addWorker(name: string, release: Release): Promise<Part>
  probe: Readonly<Record<string, string>>
  /** Whether the balancer sends requests to an api. */
  isBalanced(api: string): Promise<boolean>
  close(): Promise<void>
}

export async function startCluster(folder: string): Promise<Cluster> {
  mkdirSync(join(folder, 'logs'), { recursive: true })
  const ending = new AbortController()
  const watchdog = new Watchdog()
  const contextOf = (name: string): StackContext => ({
    logFile: () => join(folder, 'logs', `${name}.log`),
    watchdog,
    signal: ending.signal
  })
  const closers: (() => unknown)[] = []
  const started: Part[] = []
  const begin = async (part: Part): Promise<Part> => {
    started.push(part)
    await part.start()
    return part
  }

  const authority = createAuthority('the authority of the cluster')
  const secret = authority.sign(['127.0.0.1', 'localhost'])
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, authority.ca)

  const home = postgresHome(folder)
  const databasePort = await freePort()
  let databaseUrl = ''
  const postgres = createPart('postgres', thisRelease, async () => {
    const server = await startPostgres({ home, port: databasePort, durable: true }, contextOf('postgres'))
    databaseUrl = await ensureDatabase(server.url, 'qjs', 'a-password-of-the-cluster')
    await setLimitsOfRole(server.url)
    return server
  })
  await begin(postgres)

  const directWay = await postgresOverTls({ host: '127.0.0.1', port: databasePort }, secret)
  closers.push(directWay.close)
  const poolerPort = await freePort()
  const pooler = createPart('pgbouncer', thisRelease, () =>
    startPooler({ folder, port: poolerPort, databaseUrl, secret, ...{ user: home.user } }, contextOf('pgbouncer'))
  )
  await begin(pooler)

  const password = newSecret()
  const redisPort = await freePort()
  const redis = createPart('redis', thisRelease, () =>
    startRedis({ dataDir: null, password, port: redisPort }, contextOf('redis'))
  )
  await begin(redis)
  const redisWay = await tlsBefore(`127.0.0.1:${redisPort}`, secret)
  closers.push(redisWay.close)

  const ports = { grpc: await freePort(), http: await freePort(), ui: await freePort() }
  const temporal = createPart('temporal', thisRelease, () =>
    startTemporal({ database: join(folder, 'temporal.db'), ports, settings: TEMPORAL_SETTINGS }, contextOf('temporal'))
  )
  await begin(temporal)
  const temporalWay = await tlsBefore(`127.0.0.1:${ports.grpc}`, secret)
  closers.push(temporalWay.close)

  const token = newSecret()
  const executors = await Promise.all(
    [undefined, ENGINES_OF_SECOND].map(async (engines, at) => {
      const name = `executor${at + 1}`
      const port = await freePort()
      const part = createPart(name, thisRelease, () =>
        startExecutor(
          { token, port, slots: '2', warmFrameworks: false, drainSeconds: 60, ...(engines && { engines }) },
          contextOf(name)
        )
      )
      return { part: await begin(part), url: `http://127.0.0.1:${port}` }
    })
  )

  const emulators = await startEmulators({ timing: { queueMs: 2_000, runMs: 500 }, startsPerMinute: 1_000_000 })
  closers.push(() => emulators.close())

  const secure = (port: number) => {
    const url = new URL(databaseUrl)
    url.port = String(port)
    url.searchParams.set('sslmode', 'verify-full')
    url.searchParams.set('sslrootcert', ca)
    return url.href
  }
  const settings: Record<string, string> = {
    DATABASE_URL: secure(poolerPort),
    DATABASE_DIRECT_URL: secure(directWay.port),
    DATABASE_PREPARED_STATEMENTS: 'off',
    DATABASE_STARTUP_PARAMETERS: 'off',
    REDIS_URL: `rediss://:${password}@127.0.0.1:${redisWay.port}`,
    REDIS_TLS_CA: ca,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporalWay.port}`,
    TEMPORAL_TLS_CA: ca,
    TEMPORAL_DEPLOYMENT: DEPLOYMENT,
    EXECUTOR_URL: executors.map(({ url }) => url).join(','),
    EXECUTOR_TOKEN: token,
    SECRETS_KEYS: `cluster:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`,
    RATE_LIMIT_SCALE: '0',
    PROVIDER_RATE_SCALE: '0',
    WORKFLOW_QUIET_SECONDS: '5',
    WORKFLOW_SWEEP_SECONDS: '5',
    SHUTDOWN_DRAIN_SECONDS: String(DRAIN_SECONDS),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    NODE_OPTIONS: '',
    ...(emulatorVariables(emulators.providers, {}) as Record<string, string>),
    PROVIDER_LOOKUP_WINDOW: '30'
  }
  const apiPorts: Record<string, number> = { api1: await freePort(), api2: await freePort() }
  const probe: Record<string, string> = {}
  const apis = Object.entries(apiPorts).map(([name, port]) => {
    probe[name] = `http://127.0.0.1:${port}/readyz`
    return createPart(name, thisRelease, ({ root }) =>
      startNodeApp(
        { name: 'api', root, env: settings, port, portVariable: 'PORT', probeHost: '127.0.0.1' },
        contextOf(name)
      )
    )
  })
  const newWorker = async (name: string, release: Release) => {
    const port = await freePort()
    probe[name] = `http://127.0.0.1:${port}/readyz`
    return createPart(name, release, ({ root, workflowBundle }) =>
      startNodeApp(
        {
          name: 'worker',
          root,
          env: { ...settings, WORKFLOW_BUNDLE: workflowBundle },
          port,
          portVariable: 'WORKER_HEALTH_PORT',
          probeHost: '127.0.0.1'
        },
        contextOf(name)
      )
    )
  }
  const workers = await Promise.all(['worker1', 'worker2', 'worker3'].map((name) => newWorker(name, thisRelease)))
  for (const part of [...apis, ...workers]) await begin(part)

  const balancerPort = await freePort()
  await begin(
    createPart('haproxy', thisRelease, () =>
      startBalancer({ folder, port: balancerPort, apis: apiPorts, secret }, contextOf('haproxy'))
    )
  )
  const connection = connectForTest(databaseUrl, { max: 3 })
  return {
    base: `https://127.0.0.1:${balancerPort}`,
    agent: new Agent({ connect: { ca: authority.ca } }),
    connection,
    temporalAddress: `127.0.0.1:${ports.grpc}`,
    emulators,
    parts: {
      apis,
      workers,
      executors: executors.map(({ part }) => part),
      servers: [redis, temporal, pooler, postgres]
    },
    async addWorker(name, release) {
      return begin(await newWorker(name, release))
    },
    probe,
    isBalanced: (api) => isBalanced(folder, api),
    async close() {
      ending.abort(new Error('the cluster is over'))
      await connection.close()
      await Promise.all(started.map((part) => part.kill()))
      for (const close of closers) await close()
      watchdog.close()
    }
  }
}

/** PgBouncer passes no startup parameters on (docs/operations/deployment/postgres.md). */
async function setLimitsOfRole(superuserUrl: string): Promise<void> {
  const { sql, close } = connect(superuserUrl, { max: 1 })
  try {
    await sql`alter role qjs set statement_timeout = '10s'`
    await sql`alter role qjs set idle_in_transaction_session_timeout = '90s'`
  } finally {
    await close()
  }
}
