// The Node programs of the stack: api and worker, run from their bundles in dist/.
import { join } from 'node:path'
import { projectRoot } from '../project.js'
import { type Child, type StackContext, spawnChild, untilHealthy } from './child.js'
import { onPort } from './free-port.js'
import { probeHttp } from './http-probe.js'

/** A little more than a worker takes at most. */
const stopLimitMs = 40_000

export interface NodeAppOptions {
  name: 'api' | 'worker'
  env: NodeJS.ProcessEnv
  /** The folder of the release; default: this one. */
  root?: string
  /** The port of its health route; default: a free one. */
  port?: number
  /** The environment variable of this port. */
  portVariable: 'PORT' | 'WORKER_HEALTH_PORT'
  /** The host of the health route in its form for a URL (an IPv6 address in brackets). */
  probeHost: string
}

export type NodeApp = Child & { port: number }

const entries = { api: 'dist/apps/api/server.js', worker: 'dist/apps/worker/main.js' }

/** A worker is started once it takes jobs; an api also starts without the other parts. */
const probes = { api: '/healthz', worker: '/readyz' }

/** Starts the program; resolves when its probe returns 200. */
export function startNodeApp(options: NodeAppOptions, context: StackContext): Promise<NodeApp> {
  return onPort(options.port, async (port) => {
    const child = await spawnChild(context, {
      name: options.name,
      command: process.execPath,
      args: ['--enable-source-maps', join(options.root ?? projectRoot, entries[options.name])],
      env: { ...process.env, ...options.env, [options.portVariable]: String(port) },
      cwd: options.root ?? projectRoot,
      stopSignal: 'SIGTERM',
      stopLimitMs
    })
    await untilHealthy(
      child,
      (signal) => probeHttp(`http://${options.probeHost}:${port}${probes[options.name]}`, signal),
      context
    )
    return Object.assign(child, { port })
  })
}
