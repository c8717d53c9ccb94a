// `qjob start`: runs the whole stack in the foreground until Ctrl-C.
import type { Command } from 'commander'
import { readSettings } from '../stack/settings.js'
import { onEndSignals } from '../stack/signals.js'
import { startStack } from '../stack/supervisor.js'

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('start the whole stack and keep it running until Ctrl-C')
    .option(
      '--emulated-hardware',
      'start local emulators of the quantum providers; DATA_DIR/emulators.json lists their addresses'
    )
    .addHelpText(
      'after',
      '\nEnvironment: PORT (3000; 0 = any free), HOST (127.0.0.1), DATA_DIR (.data), MAIL_DIR, RATE_LIMIT_SCALE (1; 0 = off), ' +
        'LOG_LEVEL; DATABASE_URL, REDIS_URL, TEMPORAL_ADDRESS (and TEMPORAL_UI_URL) to use your own servers; ' +
        'TEMPORAL_UI_PORT (8233 or the next free one).'
    )
    .action(start)
}

const report = (line: string) => process.stderr.write(`${line}\n`)

async function start({ emulatedHardware = false }: { emulatedHardware?: boolean }): Promise<void> {
  const ends = onEndSignals(report)
  try {
    const settings = readSettings(process.env)
    const stack = await startStack({
      settings: { ...settings, emulatedHardware: emulatedHardware || settings.emulatedHardware },
      purpose: 'npm start',
      report,
      signal: ends.signal
    })
    ends.onSecond(() => stack.kill())
    const ui = stack.temporalUiUrl ?? 'unknown (set TEMPORAL_UI_URL)'
    process.stdout.write(`ready: ${stack.url}   Temporal UI: ${ui}\n`)
    await ends.first
    await stack.stop()
    report('Everything is stopped.')
  } catch (error) {
    report(ends.signal.aborted ? 'The start was interrupted; everything is stopped.' : (error as Error).message)
    process.exitCode = ends.signal.aborted ? 130 : 1
  }
}
