// `qjob emulators`: runs the emulated providers in the foreground until Ctrl-C.
import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { jsonOption, reportingFailures, wholeNumber } from '../session/service-command.js'
import { emulatorsProgram } from '../stack/parts/emulators.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'

/** Leaves room for the providers' own ports. */
const portMax = 65_000

interface Options {
  port: number
  json?: boolean
  tlsCert?: string
  tlsKey?: string
}

export function addEmulatorsCommand(program: Command): void {
  jsonOption(
    program
      .command('emulators')
      .description('run the emulated quantum providers on this machine until Ctrl-C, for adapters and tests')
      .option(
        '--port <number>',
        'the first port: control, then one for each provider (0: any free ports)',
        wholeNumber,
        0
      )
      .option('--tls-cert <file>', 'a certificate in PEM: the providers speak TLS')
      .option('--tls-key <file>', 'the key of the certificate')
  ).action((options: Options) => reportingFailures(options, () => run(options)))
}

/** Runs them in a separate process, which stops with this one. */
async function run({ port, json, tlsCert, tlsKey }: Options): Promise<void> {
  if (port < 0 || port > portMax)
    throw new CliError('usage', `--port: must be a number from 0 to ${portMax} (got ${port})`)
  const tls = [...(tlsCert ? ['--tls-cert', tlsCert] : []), ...(tlsKey ? ['--tls-key', tlsKey] : [])]
  const args = ['--enable-source-maps', emulatorsProgram, '--port', String(port), ...tls, ...(json ? ['--json'] : [])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  // The emulators have printed the reason themselves.
  process.exitCode = code ?? exitCodes.interrupted
}
