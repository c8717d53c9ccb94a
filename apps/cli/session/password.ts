// Reads passwords and other secrets from a terminal without echo, or from standard input; a password also from QJOB_PASSWORD.
// Never from an argument, which every user of the machine can read.
import { passwordFault } from '../../../domain/accounts/password.js'
import { CliError } from '../terminal/cli-error.js'
import { plainLine } from '../terminal/untrusted-text.js'

const STDIN_CHARACTERS_MAX = 100_000
const SECRET_LINES_MAX = 50

/** @param twice prompts a second time on a terminal, for a new password. */
export async function readPassword({ twice = false } = {}): Promise<string> {
  if (process.env.QJOB_PASSWORD) return process.env.QJOB_PASSWORD
  if (!process.stdin.isTTY) return firstLine(await linesOfStdin(1))
  return twice ? promptTwice('Password: ', 'Repeat password: ') : prompt('Password: ')
}

/** A new password, which is judged before a person types it again. @throws CliError `usage`. */
async function promptTwice(first: string, second: string): Promise<string> {
  const password = await prompt(first)
  const fault = passwordFault(password)
  if (fault) throw new CliError('usage', fault)
  if ((await prompt(second)) !== password) throw new CliError('usage', 'the two passwords differ: try again')
  return password
}

/** The present password, and a new one: two prompts, or two lines of standard input. */
export async function readNewPassword(): Promise<{ password: string; new_password: string }> {
  if (!process.stdin.isTTY) {
    const [password, next] = await linesOfStdin(2)
    if (!password || !next)
      throw new CliError(
        'usage',
        'standard input: must have the present password and the new one, each on its own line'
      )
    return { password, new_password: next }
  }
  const password = await prompt('Present password: ')
  return { password, new_password: await promptTwice('New password: ', 'Repeat new password: ') }
}

/** Values by name: a prompt for each of `names`, or lines NAME=VALUE of standard input. */
export async function readSecrets(names: readonly string[]): Promise<Record<string, string>> {
  const values: Record<string, string> = {}
  if (process.stdin.isTTY) {
    if (names.length === 0) throw new CliError('usage', 'name the values to store, such as api_key')
    for (const name of names) values[name] = await prompt(`${plainLine(name)}: `)
    return values
  }
  if (names.length > 0)
    throw new CliError('usage', 'without a terminal, standard input has the names: a line NAME=VALUE for each value')
  for (const line of await linesOfStdin(SECRET_LINES_MAX)) {
    const at = line.indexOf('=')
    if (line.trim() === '') continue
    if (at < 1) throw new CliError('usage', 'standard input: each line must be NAME=VALUE')
    values[line.slice(0, at).trim()] = line.slice(at + 1)
  }
  if (Object.keys(values).length === 0) throw new CliError('usage', 'standard input: has no line NAME=VALUE')
  return values
}

/** Until there are `most` lines, without their ends. */
async function linesOfStdin(most: number): Promise<string[]> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.split('\n').length > most || text.length > STDIN_CHARACTERS_MAX) break
  }
  return text
    .split('\n')
    .slice(0, most)
    .map((line) => line.replace(/\r$/, ''))
}

function firstLine([line]: string[]): string {
  if (!line) throw new CliError('usage', 'no password: set QJOB_PASSWORD, pass it on standard input, or use a terminal')
  return line
}

function prompt(label: string): Promise<string> {
  const { stdin, stderr } = process
  return new Promise((resolve, reject) => {
    let typed = ''
    const end = (settle: () => void) => {
      stdin.setRawMode(false).pause().off('data', onKeys)
      stderr.write('\n')
      settle()
    }
    // Raw keys, which the terminal neither shows nor edits.
    const onKeys = (keys: string) => {
      for (const key of keys) {
        if (key === '\r' || key === '\n' || key === '\x04') return end(() => resolve(typed))
        if (key === '\x03') return end(() => reject(new CliError('usage', 'no password was entered')))
        if (key === '\x7f' || key === '\b') typed = [...typed].slice(0, -1).join('')
        else typed += key
      }
    }
    // The echo is turned off before the prompt appears.
    stdin.setRawMode(true).setEncoding('utf8').resume().on('data', onKeys)
    stderr.write(label)
  })
}
