// Keeps the executors of this process up to date: looks up their names, and asks each how it is.
import { lookup } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf, type ExecutorAddresses } from '../../domain/backends/executor-addresses.js'
import { reasonOf } from '../../domain/operations/reason.js'
import type { ExecutorClient } from './client.js'
import { createEndpoints, type EndpointLog, type Endpoints } from './endpoints.js'
import { connectionFault } from './stream.js'

/** Until the next look while an executor takes no calls. */
const SOON_MS = 1_000
/** Between two looks, however many calls are refused. */
const LEAST_MS = 200

export interface ExecutorPool {
  endpoints: Endpoints
  /** Asks every executor how it is, now. Calls at the same time share one look. */
  look(): Promise<void>
  close(): Promise<void>
}

export interface PoolOptions {
  addresses: ExecutorAddresses
  connect(address: string): ExecutorClient
  /** Between two looks. */
  everyMs: number
  log: EndpointLog
  /** The addresses of a name. */
  resolve?(host: string): Promise<string[]>
}

const allAddresses = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

export function createExecutorPool({
  addresses,
  connect,
  everyMs,
  log,
  resolve = allAddresses
}: PoolOptions): ExecutorPool {
  const endpoints = createEndpoints(log)
  const closing = new AbortController()
  let looking: Promise<void> | null = null
  let wake = () => {}
  /** The last addresses of each name: an executor stays while its name cannot be looked up. */
  const found = new Map<string, string[]>()
  if (addresses.names.length === 0) endpoints.setAddresses(addresses.fixed, connect)

  async function lookUp(): Promise<void> {
    for (const { host, port } of addresses.names)
      try {
        found.set(
          host,
          (await resolve(host)).map((ip) => addressOf(ip, port))
        )
      } catch (error) {
        log.warn({ host, reason: reasonOf(error) }, 'the name of the executors could not be looked up')
      }
    if (addresses.names.length > 0 && !closing.signal.aborted)
      endpoints.setAddresses([...new Set([...addresses.fixed, ...[...found.values()].flat()])], connect)
  }

  async function lookOnce(): Promise<void> {
    await lookUp()
    await Promise.all(
      endpoints.list().map(async (endpoint) => {
        try {
          endpoints.reported(endpoint, await endpoint.client.health())
        } catch (error) {
          endpoints.failed(endpoint, connectionFault(error), (error as Error).name === 'TimeoutError')
        }
      })
    )
  }

  const look = () => {
    looking ??= lookOnce().finally(() => {
      looking = null
    })
    return looking
  }

  async function keepLooking(): Promise<void> {
    const stopped = { signal: closing.signal }
    while (!closing.signal.aborted) {
      await look()
      await sleep(LEAST_MS, undefined, stopped)
      const all = endpoints.list()
      const allTake = all.length > 0 && all.every(({ state }) => state === 'ready' || state === 'twin')
      const woken = new AbortController()
      wake = () => woken.abort()
      await sleep(Math.min(everyMs, allTake ? everyMs : SOON_MS) - LEAST_MS, undefined, {
        signal: AbortSignal.any([woken.signal, closing.signal])
      }).catch(() => {})
    }
  }

  endpoints.onDoubt(() => wake())
  const running = keepLooking().catch((error) => {
    if (!closing.signal.aborted) throw error
  })

  return {
    endpoints,
    look,
    async close() {
      closing.abort()
      await Promise.allSettled([running, endpoints.close()])
    }
  }
}
