// Redis of a test's own in its larger forms: with TLS, behind Sentinels, as a cluster.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis, type RedisOptions } from 'ioredis'
import { type Child, type StackContext, spawnChild, untilHealthy } from '../../../apps/cli/stack/parts/child.js'
import { onPort } from '../../../apps/cli/stack/parts/free-port.js'
import { partBinary, projectRoot } from '../../../apps/cli/stack/project.js'
import { Watchdog } from '../../../apps/cli/stack/watchdog.js'
import { eventually } from '../eventually.js'
import { createAuthority } from '../tls/certificates.js'

const PASSWORD = 'of-the-servers'
const SENTINEL_PASSWORD = 'of-the-sentinels'
const PRIMARY = 'main'
const HOST = '127.0.0.1'
const SLOTS = 16_384

export type RedisServer = Child & {
  port: number
  /** A connection of the test's own to this server. */
  redis: Redis
}

/** What a process needs to reach them, as environment variables. */
type Environment = Record<string, string>

/** @param tls the servers speak TLS alone, and demand a certificate of their clients. */
export function redisServers(name: string, { tls = false } = {}) {
  const folder = join(projectRoot, '.test', 'platforms', `${name}-${process.pid}${tls ? '-tls' : ''}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const ending = new AbortController()
  const watchdog = new Watchdog()
  const context: StackContext = {
    logFile: (part) => join(folder, `${part}.log`),
    watchdog,
    signal: ending.signal
  }
  const running: RedisServer[] = []
  const file = (of: string, text: string): string => {
    writeFileSync(join(folder, of), text)
    return join(folder, of)
  }
  const authority = createAuthority(name)
  const [ofServers, ofClients] = [authority.sign([HOST]), authority.sign(['a client'])]
  const [ca, serverCert, serverKey] = [
    file('ca.pem', authority.ca),
    file('server.pem', ofServers.cert),
    file('server.key', ofServers.key)
  ]
  const tlsEnvironment: Environment = tls
    ? {
        REDIS_TLS_CA: ca,
        REDIS_TLS_CERT: file('client.pem', ofClients.cert),
        REDIS_TLS_KEY: file('client.key', ofClients.key)
      }
    : {}
  const scheme = tls ? 'rediss' : 'redis'

  const start = (part: string, lines: string[], password: string | null, isSentinel = false): Promise<RedisServer> =>
    onPort(undefined, (port) => startAt(port, part, lines, password, isSentinel))

  async function startAt(
    port: number,
    part: string,
    lines: string[],
    password: string | null,
    isSentinel: boolean
  ): Promise<RedisServer> {
    const home = join(folder, part)
    mkdirSync(home, { recursive: true })
    const ofTls = [
      'port 0',
      `tls-port ${port}`,
      `tls-cert-file ${serverCert}`,
      `tls-key-file ${serverKey}`,
      `tls-ca-cert-file ${ca}`,
      'tls-replication yes',
      ...(isSentinel ? [] : ['tls-cluster yes'])
    ]
    const configuration = file(
      `${part}/redis.conf`,
      [
        ...(tls ? ofTls : [`port ${port}`]),
        `bind ${HOST}`,
        `dir ${home}`,
        ...(password === null ? [] : [`requirepass ${password}`]),
        ...(isSentinel ? [] : ['save ""', 'maxmemory-policy noeviction', `masterauth ${password}`]),
        ...lines,
        ''
      ].join('\n')
    )
    const child = await spawnChild(context, {
      name: part,
      command: partBinary('redis'),
      args: [configuration, ...(isSentinel ? ['--sentinel'] : [])],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      cwd: home,
      stopSignal: 'SIGTERM',
      stopLimitMs: 10_000
    })
    const options: RedisOptions = {
      host: HOST,
      port,
      ...(password !== null && { password }),
      ...(tls && { tls: { ca: authority.ca, ...ofClients } }),
      retryStrategy: () => 100
    }
    const redis = new Redis(options)
    redis.on('error', () => {})
    try {
      await untilHealthy(child, () => redis.ping(), context)
    } catch (error) {
      redis.disconnect()
      throw error
    }
    const server = Object.assign(child, { port, redis })
    running.push(server)
    return server
  }

  const envAt = (port: number): Environment => ({
    ...tlsEnvironment,
    REDIS_URL: `${scheme}://:${PASSWORD}@${HOST}:${port}`
  })

  async function pair() {
    const primary = await start('primary', [], PASSWORD)
    const replica = await start('replica', [`replicaof ${HOST} ${primary.port}`], PASSWORD)
    return { primary, replica }
  }

  return {
    /** A primary and a replica that nothing watches. */
    pair,

    /** One server. */
    async single() {
      const server = await start('single', [], PASSWORD)
      return { server, env: envAt(server.port) }
    },

    /** What reaches a server through this port. */
    envAt,

    /** A primary with one replica, and Sentinels of which more than half must agree. */
    async sentinel(sentinels: number) {
      const { primary, replica } = await pair()
      const quorum = Math.floor(sentinels / 2) + 1
      const watchers: RedisServer[] = []
      for (let index = 0; index < sentinels; index++)
        watchers.push(
          await start(
            `sentinel-${index}`,
            [
              `sentinel monitor ${PRIMARY} ${HOST} ${primary.port} ${quorum}`,
              `sentinel auth-pass ${PRIMARY} ${PASSWORD}`,
              `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
              `sentinel down-after-milliseconds ${PRIMARY} 1000`,
              `sentinel failover-timeout ${PRIMARY} 4000`
            ],
            SENTINEL_PASSWORD,
            true
          )
        )
      // Without that, no Sentinel would name the replica as the next primary.
      await eventually(async () => {
        for (const { redis } of watchers) {
          const [master] = (await redis.call('SENTINEL', 'MASTERS')) as string[][]
          const known = (field: string) => Number(master![master!.indexOf(field) + 1])
          if (known('num-slaves') !== 1 || known('num-other-sentinels') !== sentinels - 1) return false
        }
        return (await replica.redis.info('replication')).includes('master_link_status:up')
      })
      const hosts = watchers.map(({ port }) => `${HOST}:${port}`).join(',')
      const query = `?sentinel_password=${SENTINEL_PASSWORD}`
      return {
        primary,
        replica,
        sentinels: watchers,
        env: { ...tlsEnvironment, REDIS_URL: `${scheme}-sentinel://:${PASSWORD}@${hosts}/${PRIMARY}${query}` }
      }
    },

    /**
     * Three primaries.
     * @param replicaOf a key; the primary that holds it gets a replica.
     */
    async cluster(replicaOf: string | null) {
      const nodeWith = (index: number) =>
        onPort(undefined, async (bus) => {
          const lines = [
            'cluster-enabled yes',
            'cluster-node-timeout 2000',
            `cluster-port ${bus}`,
            'cluster-config-file nodes.conf'
          ]
          return Object.assign(await start(`node-${index}`, lines, PASSWORD), { bus })
        })
      const nodes = await Promise.all(Array.from({ length: replicaOf === null ? 3 : 4 }, (_, index) => nodeWith(index)))
      const [first] = nodes
      const ranges = [0, 1, 2].map((index) => [
        Math.ceil((index * SLOTS) / 3),
        Math.ceil(((index + 1) * SLOTS) / 3) - 1
      ])
      for (const [index, [from, to]] of ranges.entries())
        await nodes[index]!.redis.call('CLUSTER', 'ADDSLOTSRANGE', from!, to!)
      for (const { redis } of nodes.slice(1)) await redis.call('CLUSTER', 'MEET', HOST, first!.port, first!.bus)
      const infoOf = async ({ redis }: RedisServer) => String(await redis.call('CLUSTER', 'INFO'))
      await eventually(async () => {
        const infos = await Promise.all(nodes.map(infoOf))
        return infos.every((info) => info.includes('cluster_state:ok') && info.includes(`known_nodes:${nodes.length}`))
      })
      let owner: RedisServer | null = null
      if (replicaOf !== null) {
        const slot = (await first!.redis.call('CLUSTER', 'KEYSLOT', replicaOf)) as number
        owner = nodes[ranges.findIndex(([from, to]) => from! <= slot && slot <= to!)]!
        const id = (await owner.redis.call('CLUSTER', 'MYID')) as string
        const replica = nodes.at(-1)!
        await eventually(async () => {
          await replica.redis.call('CLUSTER', 'REPLICATE', id)
          return true
        })
        await eventually(async () => {
          const isUp = (await replica.redis.info('replication')).includes('master_link_status:up')
          const seen = await Promise.all(nodes.map(async ({ redis }) => String(await redis.call('CLUSTER', 'NODES'))))
          return isUp && seen.every((text) => text.includes(`slave ${id}`))
        })
      }
      // All but one: the others are found through the first that responds.
      const hosts = nodes
        .slice(0, 2)
        .map(({ port }) => `${HOST}:${port}`)
        .join(',')
      return { nodes, owner, env: { ...tlsEnvironment, REDIS_URL: `${scheme}-cluster://:${PASSWORD}@${hosts}` } }
    },

    async close(): Promise<void> {
      ending.abort(new Error('the test is over'))
      for (const { redis } of running) redis.disconnect()
      for (const server of running) server.kill()
      await Promise.all(running.map(({ exited }) => exited))
      watchdog.close()
    }
  }
}
