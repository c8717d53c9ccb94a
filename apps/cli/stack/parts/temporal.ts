// The Temporal development server with its web interface, tuned for short steps on one machine.

import { partBinary } from '../project.js'
import { type Child, type StackContext, spawnChild, untilHealthy } from './child.js'
import { attemptsMax, freePort, freePortFrom, isFree } from './free-port.js'
import { probeHttp } from './http-probe.js'

/** Search attributes of jobs; starting a workflow with an unknown one fails. All are of type Keyword. */
const searchAttributes = ['TeamId', 'Backend', 'JobMode', 'JobStatus']

// The defaults suit a shared cluster: 20 polls a second add 50 ms to every step, and four partitions add a round trip.
const dynamicConfig = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=500',
  'system.enableActivityEagerExecution=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1'
]

export interface TemporalOptions {
  /** The database file; null keeps everything in memory. */
  database: string | null
  /** Further settings of the server, `key=value`. */
  settings?: string[]
  /** Ports of an earlier start, which other parts use. */
  ports?: TemporalPorts
  /** The port of the web interface: this one and no other. */
  uiPort?: number
  /** The port that the web interface had before. Without `uiPort` it gets this one again, or the next free one. */
  earlierUiPort?: number
}

export interface TemporalPorts {
  grpc: number
  http: number
  ui: number
}

export type Temporal = Child & { address: string; uiUrl: string; ports: TemporalPorts }

/** The port that Temporal's own documentation and command line name. */
const UI_PORT = 8233

/**
 * Starts the server on the loopback address; resolves when the namespace `default` can be described. If a start fails because a
 * port was taken meanwhile, it is repeated on others.
 */
export async function startTemporal(options: TemporalOptions, context: StackContext): Promise<Temporal> {
  if (options.ports) return startOn(options.ports, options, context)
  for (let attempt = 1; ; attempt++) {
    const ui = options.uiPort ?? (await freePortFrom(options.earlierUiPort ?? UI_PORT))
    const ports = { grpc: await freePort(), http: await freePort(), ui }
    try {
      return await startOn(ports, options, context)
    } catch (error) {
      const free = await Promise.all(Object.values(ports).map((port) => isFree(port)))
      if (attempt === attemptsMax || !free.includes(false)) throw error
    }
  }
}

async function startOn(ports: TemporalPorts, options: TemporalOptions, context: StackContext): Promise<Temporal> {
  const child = await spawnChild(context, {
    name: 'temporal',
    command: partBinary('temporal'),
    args: serverArguments(options, ports),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    cwd: '/',
    stopSignal: 'SIGTERM',
    stopLimitMs: 10_000
  })
  // The gRPC port opens half a second before the server can serve; this route makes the same request as a worker's first.
  const ready = `http://127.0.0.1:${ports.http}/api/v1/namespaces/default`
  await untilHealthy(child, (signal) => probeHttp(ready, signal), context)
  return Object.assign(child, {
    address: `127.0.0.1:${ports.grpc}`,
    uiUrl: `http://127.0.0.1:${ports.ui}`,
    ports
  })
}

function serverArguments({ database, settings = [] }: TemporalOptions, ports: TemporalPorts): string[] {
  // Write-ahead log with normal sync: as fast as memory, and nothing is lost if a process dies.
  const file = [
    '--db-filename',
    database ?? '',
    '--sqlite-pragma',
    'journal_mode=WAL',
    '--sqlite-pragma',
    'synchronous=NORMAL'
  ]
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'error', '--log-format', 'json'],
    ...['--port', String(ports.grpc), '--http-port', String(ports.http), '--ui-port', String(ports.ui)],
    ...(database ? file : []),
    ...[...dynamicConfig, ...settings].flatMap((entry) => ['--dynamic-config-value', entry]),
    ...searchAttributes.flatMap((name) => ['--search-attribute', `${name}=Keyword`])
  ]
}
