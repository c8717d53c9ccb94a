// The published public client `marqov`, in a Python process that runs the code of a test.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { projectRoot } from '../../../apps/cli/stack/project.js'

/** The time limit of each piece of Python code. */
const LIMIT_MS = 120_000

/** An exception, by the name of its class. */
export interface Raised {
  type: string
  message: string
  code?: string
  status?: number
  retry_after?: number
  idempotency_key?: string
  traceback: string
}

export interface HttpAnswer {
  request: string
  status: number
  type: string | null
}

type Reply = { id: number; answers: HttpAnswer[] } & ({ value: unknown } | { raised: Raised })

export interface PythonClient {
  /**
   * The return value of a Python function body; test/marqov/driver.py describes the names that it can use. Code that
   * returns numbers beyond 2^53 has to return them as text.
   * @throws Error when it raises.
   */
  run<T = unknown>(code: string, names?: Record<string, unknown>): Promise<T>
  /** The exception that the code raises. @throws Error when it raises none. */
  refusal(code: string, names?: Record<string, unknown>): Promise<Raised>
  /** All HTTP responses that clients have received so far. */
  readonly answers: HttpAnswer[]
  close(): Promise<void>
}

export function startPythonClient(): PythonClient {
  // Isolates the client from the .netrc and the settings of the person who runs the tests.
  const home = mkdtempSync(join(tmpdir(), 'marqov-'))
  const child = spawn(join(projectRoot, '.venv/bin/python'), [join(projectRoot, 'test/marqov/driver.py')], {
    cwd: home,
    env: { PATH: process.env.PATH!, HOME: home },
    stdio: ['pipe', 'pipe', 'pipe']
  })
  const waiting = new Map<number, (reply: Reply | Error) => void>()
  const answers: HttpAnswer[] = []
  let asked = 0
  let complaints = ''
  let gone: Error | null = null
  child.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  // The exit of the process reports the failure.
  child.stdin.on('error', () => {})
  createInterface({ input: child.stdout }).on('line', (line) => {
    const reply = JSON.parse(line) as Reply
    answers.push(...reply.answers)
    waiting.get(reply.id)?.(reply)
  })
  const ended = new Promise<void>((resolve) => {
    const end = (why: string) => {
      gone = new Error(`the Python client ${why}:\n${complaints}`)
      for (const tell of waiting.values()) tell(gone)
      resolve()
    }
    child.once('error', (error) => end(`could not be started (${error.message})`))
    child.once('close', (code, signal) => end(`was ended by ${signal ?? `code ${code}`}`))
  })

  async function ask(code: string, names: Record<string, unknown>): Promise<Reply> {
    if (gone) throw gone
    const id = ++asked
    const reply = await new Promise<Reply | Error>((resolve) => {
      const late = setTimeout(() => resolve(new Error(`no answer within ${LIMIT_MS / 1000} s to:${code}`)), LIMIT_MS)
      waiting.set(id, (told) => {
        clearTimeout(late)
        resolve(told)
      })
      child.stdin.write(`${JSON.stringify({ id, code, names })}\n`)
    })
    waiting.delete(id)
    if (reply instanceof Error) throw reply
    return reply
  }

  return {
    answers,
    async run<T>(code: string, names = {}) {
      const reply = await ask(code, names)
      if ('raised' in reply) throw new Error(reply.raised.traceback)
      return reply.value as T
    },
    async refusal(code, names = {}) {
      const reply = await ask(code, names)
      if ('value' in reply) throw new Error(`raised nothing, returned ${JSON.stringify(reply.value)}:${code}`)
      return reply.raised
    },
    async close() {
      child.kill('SIGKILL')
      await ended
      rmSync(home, { recursive: true, force: true })
    }
  }
}
