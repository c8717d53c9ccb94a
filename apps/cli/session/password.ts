// Reads a password from QJOB_PASSWORD, from a terminal without echo, or from the first line of standard input. Never from an
// argument, which every user of the machine can read.
import { CliError } from '../terminal/cli-error.js'

/** @param twice prompts a second time on a terminal, for a new password. */
export async function readPassword({ twice = false } = {}): Promise<string> {
  if (process.env.QJOB_PASSWORD) return process.env.QJOB_PASSWORD
  if (!process.stdin.isTTY) return firstLineOfStdin()
  const password = await prompt('Password: ')
  if (twice && (await prompt('Repeat password: ')) !== password)
    throw new CliError('usage', 'the two passwords differ: try again')
  return password
}

async function firstLineOfStdin(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.includes('\n') || text.length > 10_000) break
  }
  const line = text.split('\n', 1)[0]!.replace(/\r$/, '')
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
