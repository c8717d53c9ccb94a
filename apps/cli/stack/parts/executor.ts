// The executor: the Python service that runs circuits and user code. It gets no address and no secret of other parts.
import { join } from 'node:path'
import { type ExecutorHealth, isFit } from '../../../../domain/backends/executor-health.js'
import { projectRoot } from '../project.js'
import { type Child, type StackContext, spawnChild, untilHealthy } from './child.js'
import { onPort } from './free-port.js'
import { probeHttp } from './http-probe.js'

export interface ExecutorOptions {
  token: string
  port?: number
  slots?: string
  /** The engines that it may offer, separated by commas; default: all that it has. */
  engines?: string
  /** How long its runs may continue once it is told to stop; default: not at all, so that Ctrl-C does not wait. */
  drainSeconds?: number
  /** The name of the part where there are several. */
  name?: string
  logLevel?: string
  /** `false`: the frameworks are imported when a program first needs one, not right after the start. */
  warmFrameworks?: false
}

export type Executor = Child & { url: string; port: number }

/** Starts the executor on the loopback address; resolves when its /health responds. */
export function startExecutor(options: ExecutorOptions, context: StackContext): Promise<Executor> {
  return onPort(options.port, async (port) => {
    const child = await spawnChild(context, {
      name: options.name ?? 'executor',
      command: join(projectRoot, '.venv/bin/python'),
      args: ['-m', 'qjs_executor'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        TMPDIR: process.env.TMPDIR,
        LANG: 'C.UTF-8',
        PYTHONPATH: join(projectRoot, 'apps/executor'),
        PYTHONDONTWRITEBYTECODE: '1',
        EXECUTOR_HOST: '127.0.0.1',
        EXECUTOR_PORT: String(port),
        EXECUTOR_TOKEN: options.token,
        EXECUTOR_SLOTS: options.slots,
        EXECUTOR_ENGINES: options.engines,
        EXECUTOR_WARM_FRAMEWORKS: options.warmFrameworks === false ? '0' : process.env.EXECUTOR_WARM_FRAMEWORKS,
        EXECUTOR_DRAIN_SECONDS: String(options.drainSeconds ?? 0),
        EXECUTOR_ISOLATION: process.env.EXECUTOR_ISOLATION,
        SANDBOX_ALLOW_INSECURE: process.env.SANDBOX_ALLOW_INSECURE,
        LOG_LEVEL: options.logLevel
      },
      cwd: projectRoot,
      // Runs, which are other users, enter the folders that it builds. It stores nothing in the data folder.
      umask: 0o022,
      stopSignal: 'SIGTERM',
      stopLimitMs: 10_000 + 1_000 * Number(options.drainSeconds ?? 0)
    })
    const url = `http://127.0.0.1:${port}`
    const headers = { authorization: `Bearer ${options.token}` }
    await untilHealthy(child, (signal) => probeHttp(`${url}/health`, signal, headers), context)
    const health = (await (await fetch(`${url}/health`, { headers })).json()) as ExecutorHealth
    if (!isFit(health)) {
      await child.stop()
      throw new Error(`the executor refuses to run code: ${health.sandbox.problem}`)
    }
    return Object.assign(child, { url, port })
  })
}
