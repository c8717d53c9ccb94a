// What all commands that talk to the service share: --url, --json and --key, the session, and how they fail.
import { type Command, InvalidArgumentError } from 'commander'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { print, say } from '../terminal/output.js'
import { ApiClient, type Credential } from './api-client.js'
import { isExposed, serviceUrl } from './service-url.js'
import { readSession } from './session-file.js'

export interface ServiceOptions {
  url?: string
  json?: boolean
  key?: string
}

/** For people and programs. */
export const serviceCommand = (program: Command, usage: string, description: string): Command =>
  accountCommand(program, usage, description).option(
    '--key <key>',
    'an API key to work by, instead of the session (default: QJOB_KEY)'
  )

/** For people alone: it is about the session. */
export const accountCommand = (program: Command, usage: string, description: string): Command =>
  jsonOption(program.command(usage).description(description)).option(
    '--url <address>',
    'the service (default: QJOB_URL, else the stack running from DATA_DIR, else http://127.0.0.1:3000)'
  )

export const jsonOption = (command: Command): Command =>
  command.option('--json', 'print one JSON value on stdout and nothing else')

/** Runs a command's work against the service: by the API key that is given, else signed in if there is a session for it. */
export const withService = (options: ServiceOptions, work: (api: ApiClient) => Promise<void>): Promise<void> =>
  reported(options, async () => {
    const url = serviceUrl(options.url)
    await work(new ApiClient(url, keyCredential(options, url) ?? sessionCredential(url)))
  })

/** The same by the session alone, whatever key there is. */
export const withSession = (options: ServiceOptions, work: (api: ApiClient) => Promise<void>): Promise<void> =>
  reported(options, async () => {
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
  // Not shown: it may be a real one with a slip in it.
  if (!/^[\x21-\x7e]{1,200}$/.test(key ?? ''))
    throw new CliError(
      'usage',
      `${option === undefined ? 'QJOB_KEY' : '--key'}: is no API key, such as marqey_live_...`
    )
  if (isExposed(url)) say(`warning: the API key travels to ${url} unencrypted; use https`)
  return { key: key! }
}

/** Turns a failure into a message, an exit code and, with --json, an object on stdout. */
export async function reported({ json }: { json?: boolean }, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof CliError)) {
      say(`a fault of qjob itself: ${(error as Error).stack ?? error}`)
      process.exitCode = exitCodes.fault
      return
    }
    say(`qjob: ${error.message}`)
    if (json) print(JSON.stringify({ error: { message: error.message, exit_code: error.exitCode, ...error.details } }))
    process.exitCode = error.exitCode
  }
}

/** For options that are whole numbers; the service decides about their range. */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It must be a whole number.')
  return value
}

export const collect = (value: string, before: string[]): string[] => [...before, value]

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
