// Reads and checks the environment variables of `npm start`.
import { isIP, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { CONTENT_STORE_PLACE } from '../../../services/audit/checkpoint-place.js'
import { isFree, listenOnce } from './parts/free-port.js'

export interface StackSettings {
  /** An absolute path. */
  dataDir: string
  host: string
  /** 0 = any free port. */
  port: number
  publicUrl?: string
  mailDir?: string
  auditCheckpointsFile?: string
  rateLimitScale?: string
  logLevel?: string
  /** The metrics ports of api and worker; default: any free port. */
  metricsPort?: number
  workerMetricsPort?: number
  /** The address on which metrics are served. */
  metricsHost: string
  executorSlots?: string
  /** Whether local emulators replace the quantum providers. */
  emulatedHardware: boolean
  /** Replaces the keys in the data folder. */
  secretsKeys?: string
  /** The operator's own servers. */
  databaseUrl?: string
  redisUrl?: string
  temporalAddress?: string
  temporalUiUrl?: string
  /** Of the web interface of the stack's own Temporal. */
  temporalUiPort?: number
}

/** @throws Error naming the variable and what it must be. */
export function readSettings(env: NodeJS.ProcessEnv): StackSettings {
  const text = (name: string) => env[name]?.trim() || undefined
  const rateLimitScale = text('RATE_LIMIT_SCALE')
  if (rateLimitScale !== undefined && !(Number(rateLimitScale) >= 0)) {
    throw new Error(`RATE_LIMIT_SCALE must be a number from 0 (off) upwards (got "${rateLimitScale}").`)
  }
  const mailDir = text('MAIL_DIR')
  const auditCheckpointsFile = text('AUDIT_CHECKPOINTS_FILE')
  return {
    dataDir: resolve(text('DATA_DIR') ?? '.data'),
    host: hostOf(text('HOST')),
    port: portOf(text('PORT')),
    publicUrl: text('PUBLIC_URL'),
    mailDir: mailDir && resolve(mailDir),
    auditCheckpointsFile:
      auditCheckpointsFile === CONTENT_STORE_PLACE
        ? auditCheckpointsFile
        : auditCheckpointsFile && resolve(auditCheckpointsFile),
    rateLimitScale,
    logLevel: text('LOG_LEVEL'),
    metricsPort: optionalPort('METRICS_PORT', text('METRICS_PORT')),
    workerMetricsPort: optionalPort('WORKER_METRICS_PORT', text('WORKER_METRICS_PORT')),
    metricsHost: text('METRICS_HOST') ?? '127.0.0.1',
    executorSlots: text('EXECUTOR_SLOTS'),
    emulatedHardware: text('EMULATED_HARDWARE') === '1',
    secretsKeys: text('SECRETS_KEYS'),
    databaseUrl: text('DATABASE_URL'),
    redisUrl: text('REDIS_URL'),
    temporalAddress: text('TEMPORAL_ADDRESS'),
    temporalUiUrl: text('TEMPORAL_UI_URL'),
    temporalUiPort: optionalPort('TEMPORAL_UI_PORT', text('TEMPORAL_UI_PORT'))
  }
}

function portOf(text = '3000'): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65535) return port
  throw new Error(`PORT must be a whole number from 0 (any free port) to 65535 (got "${text}").`)
}

function optionalPort(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (/^\d+$/.test(text) && port > 0 && port <= 65535) return port
  throw new Error(`${name} must be a port number from 1 to 65535 (got "${text}").`)
}

// People copy IPv6 addresses from URLs with brackets; the system expects them without.
function hostOf(text = '127.0.0.1'): string {
  const host = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  if (isIP(host) || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(host)) return host
  throw new Error(
    `HOST must be an address of this machine, such as 127.0.0.1, 0.0.0.0, :: or localhost (got "${text}").`
  )
}

/** The host in its form for a URL. */
export const urlHost = (host: string) => (isIPv6(host) ? `[${host.replace('%', '%25')}]` : host)

/** The host for calling a server on this machine that is bound to `host`: "every address" cannot be called. */
export function loopbackFor(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return urlHost(host)
}

/** Checks that the ports that were asked for can be bound before anything is started; rejects with the reason if not. */
export async function checkAddress({ host, port, temporalUiPort, temporalAddress }: StackSettings): Promise<void> {
  if (temporalUiPort !== undefined && temporalAddress === undefined && !(await isFree(temporalUiPort)))
    throw new Error(`Port ${temporalUiPort} is taken by another program: choose another with TEMPORAL_UI_PORT.`)
  try {
    await listenOnce(port, host)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} on ${host} is taken by ${await holderOf(host, port)}: stop it, or choose another with PORT=${port + 1}.`,
      EACCES: `Port ${port} cannot be opened by this user: choose one above 1023 with PORT.`,
      EADDRNOTAVAIL: `HOST=${host} is not an address of this machine: use 127.0.0.1, or 0.0.0.0 for all addresses.`,
      ENOTFOUND: `HOST=${host} cannot be resolved: use 127.0.0.1, or 0.0.0.0 for all addresses.`
    }
    throw new Error(reasons[code ?? ''] ?? `HOST=${host} PORT=${port} cannot be used: ${message}`)
  }
}

/** Says whose port it is, as far as the program on it shows. */
async function holderOf(host: string, port: number): Promise<string> {
  try {
    const response = await fetch(`http://${loopbackFor(host)}:${port}/api/meta`, { signal: AbortSignal.timeout(2_000) })
    const { name, version } = (await response.json()) as { name?: unknown; version?: unknown }
    if (name === 'quantum-job-service') return `a quantum job service (version ${version}) of another folder`
  } catch {
    // It is not one of ours, or does not answer.
  }
  return 'another program'
}
