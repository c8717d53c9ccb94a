// `qjob logs ID`: what the program of a job has printed, or prints while it runs.
import type { Command } from 'commander'
import { isFinal } from '../../../domain/jobs/job-status.js'
import { jobEvents, type OutputEvent } from '../jobs/job-events.js'
import { exitCodeOf } from '../jobs/job-wait.js'
import type { ApiClient } from '../session/api-client.js'
import { jobArgument, jobIdOf } from '../session/named-ids.js'
import { type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { printJson, printNotice } from '../terminal/output.js'
import { errScreen, idFor } from '../terminal/screen.js'
import { plain } from '../terminal/untrusted-text.js'

interface LogsOptions extends ServiceOptions {
  follow?: boolean
  raw?: boolean
}

export function addLogsCommand(program: Command): void {
  serviceCommand(program, 'logs', 'print what the program of a job has printed')
    .argument('<job>', jobArgument)
    .option('--follow', 'until the job has finished; the exit code follows its status')
    .option('--raw', 'with its control characters, to a file or another program')
    .action((id: string, options: LogsOptions) =>
      withService(options, async (api) => showOutput(api, await jobIdOf(api, id), options))
    )
}

async function showOutput(api: ApiClient, id: string, options: LogsOptions): Promise<void> {
  if (options.raw && process.stdout.isTTY)
    throw new CliError('usage', '--raw: control characters of a program are not sent to a terminal')
  const stopWatching = options.follow ? onInterrupt(id) : () => {}
  const kept: OutputEvent[] = []
  const printer = outputPrinter(options.raw ? (text) => text : readable)
  for await (const event of jobEvents(api, id, options.follow === true, onAway)) {
    if (event.type === 'status' && isFinal(event.status) && options.follow) process.exitCode = exitCodeOf(event.status)
    if (event.type !== 'output') continue
    if (options.json) kept.push(event)
    else printer.add(event)
  }
  stopWatching()
  if (options.json) printJson(JSON.stringify({ output: kept }))
  else printer.end()
}

const onAway = () => printNotice('the service does not respond; trying again')

/** On Ctrl-C, prints how to continue and exits the process. */
function onInterrupt(id: string): () => void {
  const onSignal = () => {
    const named = idFor(id, errScreen())
    printNotice(`The job continues.\nFollow it with: qjob logs ${named} --follow\nCancel it with: qjob cancel ${named}`)
    process.exit(exitCodes.interrupted)
  }
  process.once('SIGINT', onSignal)
  return () => process.off('SIGINT', onSignal)
}

/** A program that draws over its own line prints lines here. */
const readable = (text: string): string => plain(text.replace(/\r\n?/g, '\n'))

/** Prints the text of a job; notices name the task or attempt that it belongs to, and what is not kept. */
function outputPrinter(shown: (text: string) => string) {
  const truncated = new Map<string, number>()
  let removed = false
  let source = nameOf({ attempt: 1 })
  let midLine = false
  return {
    add(event: OutputEvent): void {
      const name = nameOf(event)
      if (event.truncated_bytes) truncated.set(name, event.truncated_bytes)
      removed ||= event.removed === true
      if (event.text === '') return
      if (name !== source) {
        if (midLine) process.stdout.write('\n')
        printNotice(`${name}:`)
      }
      source = name
      const text = shown(event.text)
      process.stdout.write(text)
      midLine = !text.endsWith('\n')
    },
    end(): void {
      if (midLine && process.stdout.isTTY) process.stdout.write('\n')
      for (const [name, bytes] of truncated)
        printNotice(`${name} printed ${bytes.toLocaleString('en')} bytes more, which are not kept`)
      if (removed) printNotice('the output of this job was removed: its team keeps it for a limited time')
    }
  }
}

const nameOf = ({ task, attempt }: { task?: string; attempt: number }): string =>
  `${task ? `task ${task}, ` : ''}attempt ${attempt}`
