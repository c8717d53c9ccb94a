// Shared by all commands that call the service: --url, --json and --key, the session, and the reporting of failures.
import { type Command, InvalidArgumentError } from 'commander'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { printJson, printNotice } from '../terminal/output.js'
import { ApiClient, type Credential } from './api-client.js'
import { isExposed, serviceUrl } from './service-url.js'
import { readSession } from './session-file.js'

export interface ServiceOptions {
  url?: string
  json?: boolean
  key?: string
}

/** A command that works with a session or an API key. */
export const serviceCommand = (program: Command, usage: string, description: string): Command =>
  accountCommand(program, usage, description).option('--key <key>', 'API key instead of a session (default: QJOB_KEY)')

/** A command about the session itself, which API keys cannot use. */
export const accountCommand = (program: Command, usage: string, description: string): Command =>
  jsonOption(program.command(usage).description(description)).option('--url <address>', 'the service (see qjob --help)')

export interface PageOptions {
  limit: number
  offset: number
}

/** Adds the options of lists that are read in pages. */
export const pageOptions = (command: Command, limit: number): Command =>
  command
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber, limit)
    .option('--offset <n>', 'how many to skip', wholeNumber, 0)

export const jsonOption = (command: Command): Command => command.option('--json', 'print only one JSON value')

/** Runs a command's work against the service with the given API key, or else with the saved session if there is one. */
export const withService = (options: ServiceOptions, work: (api: ApiClient) => Promise<void>): Promise<void> =>
  reportingFailures(options, async () => {
    const url = serviceUrl(options.url)
    await work(new ApiClient(url, keyCredential(options, url) ?? sessionCredential(url)))
  })

/** Like `withService`, but always with the session, even if there is a key. */
export const withSession = (options: ServiceOptions, work: (api: ApiClient) => Promise<void>): Promise<void> =>
  reportingFailures(options, async () => {
    const url = serviceUrl(options.url)
    await work(new ApiClient(url, sessionCredential(url)))
  })

function sessionCredential(url: string): Credential | null {
  const session = readSession(url)
  return session && { cookie: session.cookie }
}

function keyCredential({ key: option }: ServiceOptions, url: string): Credential | null {
  const key = option ?? process.env.QJOB_KEY
  if (option === undefined && !key) return null
  // The value is not shown: it may be a real key with a typing error.
  if (!/^[\x21-\x7e]{1,200}$/.test(key ?? ''))
    throw new CliError(
      'usage',
      `${option === undefined ? 'QJOB_KEY' : '--key'}: must be an API key, such as marqey_live_...`
    )
  if (isExposed(url)) printNotice(`warning: the API key travels to ${url} unencrypted; use https`)
  return { key: key! }
}

/** Turns a failure into a message, an exit code and, with --json, an object on stdout. */
export async function reportingFailures({ json }: { json?: boolean }, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CliError)) {
      printNotice(`internal error in qjob: ${(error as Error).stack ?? error}`)
      process.exitCode = exitCodes.fault
      return
    }
    printNotice(`qjob: ${error.message}`)
    if (json)
      printJson(JSON.stringify({ error: { message: error.message, exit_code: error.exitCode, ...error.details } }))
    process.exitCode = error.exitCode
  }
}

/** Parses options that are whole numbers; the service checks their range. */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It must be a whole number.')
  return value
}

/** Parses options that are whole numbers and whose range qjob checks itself. */
export function wholeNumberWithin(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
    return value
  }
}

/** Parses options that are amounts. */
export function dollars(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be an amount of USD, such as 2.50.')
  return value
}

/** Parses options that are times at which something ends. */
export function timeInFuture(text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()) || !/^\d{4}-\d\d-\d\d/.test(text))
    throw new InvalidArgumentError('It must be an ISO 8601 time, such as 2030-01-31T12:00:00Z.')
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('It must be in the future.')
  return time
}

export const collect = (value: string, before: string[]): string[] => [...before, value]

/** Parses arguments that are whole ids. */
export function idArgument(noun: string, listedBy: string) {
  return (text: string): string => {
    if (!isUuid(text)) throw new InvalidArgumentError(`It must be the id of a ${noun}; ${listedBy} lists them.`)
    return text.toLowerCase()
  }
}

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
