// Options under which losing a connection costs no more than the work in progress on it.
//
// The driver (postgres 3.4.9, porsager/postgres issues 1154 and 1208) drops its socket when a connection closes, while
// a transaction may still hold that connection and send its rollback on it. The resulting exception cannot be caught
// where it occurs and stops the process. If a global handler catches it all the same, the connection never recovers.
// So the driver gets sockets of our own (db/connection/database-socket.ts), which also speak TLS and choose among several hosts.
import type { DatabaseAddress, DatabaseHost } from './database-address.js'
import { DatabaseSocket } from './database-socket.js'
import { padding } from './startup-messages.js'

/**
 * Postgres ends the session of a client that its network has lost within about half a minute, instead of the two hours
 * of the operating system's keepalive, and cancels a statement whose client has disconnected.
 */
export const noticesLostClients = {
  tcp_keepalives_idle: 15,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  client_connection_check_interval: 5_000
}

export interface ConnectionKeeper {
  options: object
  /**
   * Must be called with every transaction's body. A lost connection is not reopened before the bodies that were running
   * have finished: the driver would send the rest of a slow one on the new connection, outside any transaction.
   */
  watch<T>(body: Promise<T>): Promise<T>
  /**
   * The server has become read-only: a former primary that is still reachable. Closes the connections, so that new ones
   * reach the present primary. With several hosts, they try the others first.
   * @returns `false` if that was done a moment ago.
   */
  leaveServer(): boolean
  /** Why no connection is open and the last try to open one failed; `null` otherwise. */
  outage(): Error | null
}

/** How often the connections of a pool are closed at most because their server is read-only. */
const LEFT_MS = 5_000

/** @param parameters startup parameters of each connection (`application_name`, ...). */
export function survivingConnectionLoss(
  { hosts, sessionAttributes }: DatabaseAddress,
  parameters: Record<string, string | number> = {}
): ConnectionKeeper {
  const bodies = new Set<Promise<unknown>>()
  const sockets = new Set<DatabaseSocket>()
  let leftAt = Number.NEGATIVE_INFINITY
  let outage: Error | null = null
  // The host that worked last is tried first: one that is away would delay every connection.
  let preferred = hosts[0]!
  const inOrder = (): DatabaseHost[] => {
    const first = hosts.indexOf(preferred)
    return [...hosts.slice(first), ...hosts.slice(0, first)]
  }
  return {
    options: {
      socket() {
        const socket = new DatabaseSocket({
          hosts: inOrder(),
          sessionAttributes,
          transactionsOver: () => Promise.allSettled(bodies),
          onOpen(host) {
            preferred = host
            outage = null
            sockets.add(socket)
          },
          onFailure(error) {
            if (sockets.size === 0) outage = error
          }
        })
        return socket.once('close', () => sockets.delete(socket))
      },
      // The socket does both itself.
      ssl: false,
      connect_timeout: 0,
      // The driver's own look-up of array types rejects without a handler when the connection is lost, which also stops
      // the process. Lists are therefore passed as text (`anyOf` in db/client.ts).
      fetch_types: false,
      // The driver counts each lost connection of a pool as one more failed try. With its default, it would not
      // reconnect for up to 20 seconds after a restart of the database.
      // The random part spreads the connections of all workers over that time.
      backoff: (losses: number) => Math.min(losses * 0.05, 1) * (0.5 + Math.random() / 2),
      connection: { ...parameters, ...padding }
    },
    watch(body) {
      bodies.add(body)
      const over = () => bodies.delete(body)
      body.then(over, over)
      return body
    },
    leaveServer() {
      // A primary can be read-only for long, for example while its disk is full.
      if (performance.now() - leftAt < LEFT_MS) return false
      leftAt = performance.now()
      const left = hosts.indexOf(preferred)
      preferred = hosts[(left + 1) % hosts.length]!
      for (const socket of sockets) socket.retire()
      return true
    },
    outage: () => outage
  }
}
