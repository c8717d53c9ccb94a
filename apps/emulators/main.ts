// The emulators as a process: run by `qjob emulators`, and as a part of a stack with emulated hardware. Prints their
// addresses and runs until a signal stops it.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { parseArgs } from 'node:util'
import { createLog, logOwnFaults } from '../../services/telemetry/log.js'
import { type EmulatorOptions, type Emulators, providerNames, startEmulators } from './emulators.js'

/** The exit codes of docs/cli.md. */
const exitCodes = { usage: 2, fault: 70 }

const { values } = parseArgs({
  options: {
    /** The first of consecutive ports: control, then the providers. 0: any free ports. */
    port: { type: 'string', default: '0' },
    /** Single ports: control=7300,ionq=7301. */
    ports: { type: 'string' },
    /** Files in PEM, with which the providers speak TLS. */
    'tls-cert': { type: 'string' },
    'tls-key': { type: 'string' },
    json: { type: 'boolean', default: false },
    /** As a part of a stack: log lines instead of a description with credentials. */
    log: { type: 'boolean', default: false }
  }
})
const log = values.log ? createLog('emulators', 'info') : null
if (log) logOwnFaults(log)

const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ended.abort())
// The parent process that opened the channel is gone.
process.once('disconnect', () => ended.abort())
// A reader that stops early is not a reason to stop.
process.stdout.on('error', () => {})

try {
  const tls = certificateOf(values['tls-cert'], values['tls-key'])
  const emulators = await startEmulators({
    ports: values.ports ? portsOf(values.ports) : portsFrom(values.port),
    ...(tls && { tls })
  })
  if (log) log.info({ providers: providerNames }, 'ready')
  else process.stdout.write(values.json ? `${JSON.stringify(describe(emulators))}\n` : readable(emulators))
  if (!ended.signal.aborted) await new Promise((resolve) => ended.signal.addEventListener('abort', resolve))
  await emulators.close()
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  const place = error instanceof RangeError || code === 'EADDRINUSE' || code === 'EACCES'
  const text = `the emulators cannot be started: ${message}${code === 'EADDRINUSE' ? '; choose another with --port' : ''}`
  const exitCode = place ? exitCodes.usage : exitCodes.fault
  if (log) log.fatal({ code }, text)
  else process.stderr.write(`qjob: ${text}\n`)
  if (values.json) process.stdout.write(`${JSON.stringify({ error: { message: text, exit_code: exitCode } })}\n`)
  process.exitCode = exitCode
} finally {
  // An open channel would keep the process alive.
  if (process.connected) process.disconnect()
}

function portsFrom(text: string): EmulatorOptions['ports'] {
  const first = portOf(text)
  if (first === 0) return {}
  return Object.fromEntries(['control', ...providerNames].map((name, index) => [name, first + index]))
}

function portsOf(text: string): EmulatorOptions['ports'] {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', port = ''] = pair.split('=')
      if (name !== 'control' && !(providerNames as string[]).includes(name))
        throw new RangeError(`--ports: unknown provider "${name}", only control, ${providerNames.join(', ')}`)
      return [name, portOf(port)]
    })
  )
}

function portOf(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port + providerNames.length <= 65535) return port
  throw new RangeError(`a port must be a whole number from 0 to ${65535 - providerNames.length} (got "${text}")`)
}

/** Both files or none. */
function certificateOf(cert: string | undefined, key: string | undefined): EmulatorOptions['tls'] {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) throw new RangeError('--tls-cert and --tls-key belong together')
  try {
    const certificate = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
    createSecureContext(certificate)
    return certificate
  } catch (error) {
    throw new RangeError(`--tls-cert, --tls-key: must be a certificate and its key in PEM: ${(error as Error).message}`)
  }
}

function describe({ providers }: Emulators) {
  return { providers: providers.map(({ control: _control, ...description }) => description) }
}

function readable({ providers }: Emulators): string {
  const sections = providers.map(({ provider, base_url, variables, control_url, credentials }) => {
    const rows = Object.entries({ API: base_url, control: control_url, ...credentials, ...variables })
    const width = Math.max(...rows.map(([name]) => name.length))
    return [provider, ...rows.map(([name, value]) => `  ${name.padEnd(width)} ${value}`)].join('\n')
  })
  return `${sections.join('\n')}\nThe emulators run on this machine until Ctrl-C.\n`
}
