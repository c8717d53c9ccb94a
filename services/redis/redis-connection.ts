// The one place that connects to Redis: to one server, to the primary that Sentinels name, or to a cluster.
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { RedisSettings } from './redis-settings.js'

export type RedisConnection = Redis | Cluster

/** How a user of the connection deals with a Redis that is away. */
export type RedisUse = Pick<
  RedisOptions,
  | 'autoResendUnfulfilledCommands'
  | 'connectTimeout'
  | 'disconnectTimeout'
  | 'enableOfflineQueue'
  | 'maxRetriesPerRequest'
  | 'retryStrategy'
  | 'socketTimeout'
>

/** A Sentinel that hangs is left for the next one. */
const SENTINEL_MS = 2_000
/** How soon a connection to a cluster notices where its keys are now, when no server tells it. */
const CLUSTER_LOOK_MS = 5_000
const CLUSTER_LOOK_LIMIT_MS = 3_000

/** Connects in the background, for as long as it takes. The caller disconnects it. */
export function openRedis({ address, tls }: RedisSettings, use: RedisUse): RedisConnection {
  const shared = { ...address.login, ...use, ...(address.tls && { tls }), reconnectOnError: isOfReplica }
  const redis = ((): RedisConnection => {
    switch (address.kind) {
      case 'server': {
        const [{ host, port }] = address.hosts
        return new Redis({ ...shared, host, port, db: address.db, ...(address.tls && { tls: named(tls, host) }) })
      }
      case 'sentinel':
        return new Redis({
          ...shared,
          sentinels: address.hosts,
          name: address.primary,
          db: address.db,
          ...(address.sentinelLogin.username && { sentinelUsername: address.sentinelLogin.username }),
          ...(address.sentinelLogin.password && { sentinelPassword: address.sentinelLogin.password }),
          ...(address.tls && { enableTLSForSentinelMode: true }),
          ...(address.sentinelTls && { sentinelTLS: tls }),
          sentinelCommandTimeout: SENTINEL_MS,
          sentinelRetryStrategy: (times) => Math.min(100 * times, 1_000),
          connectTimeout: use.connectTimeout ?? SENTINEL_MS
        })
      case 'cluster': {
        const { enableOfflineQueue = true, retryStrategy: _ofOneServer, ...ofServers } = shared
        return new Cluster(address.hosts, {
          enableOfflineQueue,
          slotsRefreshInterval: CLUSTER_LOOK_MS,
          slotsRefreshTimeout: CLUSTER_LOOK_LIMIT_MS,
          // The certificate names the host, not the address that the host has.
          dnsLookup: (host, found) => found(null, host),
          redisOptions: ofServers
        })
      }
    }
  })()
  // Each failed command rejects for its caller; an unhandled event of the connection would stop the process.
  redis.on('error', () => {})
  return redis
}

/** After a failover the old primary is a replica, and so may a server be to which a name or a proxy leads: look again. */
const isOfReplica = (error: Error): boolean => error.message.includes('READONLY')

/** Node asks for a certificate by name only if it is told the name. */
const named = (tls: ConnectionOptions, host: string): ConnectionOptions =>
  isIP(host) === 0 ? { servername: host, ...tls } : tls
