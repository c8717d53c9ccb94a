// The address of the service: --url, or QJOB_URL, or the stack that runs from DATA_DIR, or the address on which `npm start`
// with this environment listens.
import { isIP } from 'node:net'
import { readStackFile, type StackFile } from '../stack/data-dir.js'
import { dataFolder } from '../stack/project.js'
import { CliError } from '../terminal/cli-error.js'

const DEFAULT_PORT = '3000'

/** Origin and path without a trailing slash. @throws CliError if it is not an http address. */
export function serviceUrl(option: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  if (option !== undefined) return normalized('--url', option)
  if (env.QJOB_URL) return normalized('QJOB_URL', env.QJOB_URL)
  return runningStack(env)?.url ?? `http://127.0.0.1:${portOf(env)}`
}

/** 0 is any port, which only the running stack knows. */
const portOf = ({ PORT = '' }: NodeJS.ProcessEnv): string =>
  /^\d{1,5}$/.test(PORT) && Number(PORT) > 0 ? PORT : DEFAULT_PORT

/** The stack that runs from the data folder, read from its file. */
export const runningStack = (env: NodeJS.ProcessEnv = process.env): StackFile | null => readStackFile(dataFolder(env))

function normalized(source: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.search || url.hash)
    throw new CliError('usage', `${source}: must be an address such as https://jobs.example.org (got "${text}")`)
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** Whether a password sent to this address can be read on the network. */
export const isExposed = (url: string): boolean => new URL(url).protocol === 'http:' && !isLoopback(url)

/** Whether the address is of this machine. */
export function isLoopback(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
