// The body of a submission, from a file and the command's options.
import { createReadStream } from 'node:fs'
import { extname } from 'node:path'
import { CliError } from './cli-error.js'

/** The service takes no larger body. */
const FILE_BYTES_MAX = 4 * 1024 * 1024

export interface SubmitOptions {
  backend: string
  shots: number
  mode?: string
  framework?: string
  param: string[]
  name?: string
  label: string[]
  maxCost?: number
  timeout?: number
  notBefore?: string
  notify?: boolean
  seed?: number
}

/** JSON text. @param file `-` stands for standard input. @throws CliError `usage` naming the option or file. */
export async function submissionBody(file: string, options: SubmitOptions): Promise<string> {
  const body = {
    ...sourceOf(file, await readText(file), options.framework),
    backend: options.backend,
    execution_mode: options.mode,
    name: options.name,
    labels: options.label.length > 0 ? options.label : undefined,
    max_cost_usd: options.maxCost,
    timeout_seconds: options.timeout,
    not_before: options.notBefore,
    notify: options.notify ? 'email' : undefined
  }
  const params = [
    ['shots', String(options.shots)],
    ...(options.seed === undefined ? [] : [['seed', String(options.seed)]])
  ]
  const named = new Set(params.map(([key]) => key))
  for (const entry of options.param) {
    const [key, value] = paramOf(entry)
    if (named.has(key) || key === 'seed')
      throw new CliError(
        'usage',
        `--param ${key}: ${['shots', 'seed'].includes(key) ? `use --${key}` : 'is given twice'}`
      )
    named.add(key)
    params.push([key, value])
  }
  // Put together as text, so that an integer beyond 2^53 goes out as it was typed.
  const paramsJson = params.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')
  return `${JSON.stringify(body).slice(0, -1)},"params":{${paramsJson}}}`
}

/** OpenQASM goes as a circuit, which may be longer than code; anything else is code that makes one. */
function sourceOf(file: string, text: string, framework: string | undefined): Record<string, unknown> {
  const version = openqasmVersion(text)
  if (
    extname(file) === '.qasm' ||
    framework === 'openqasm' ||
    (version && framework === undefined && extname(file) !== '.py')
  ) {
    if (!version)
      throw new CliError(
        'usage',
        `${nameOf(file)}: OpenQASM begins with OPENQASM 2.0; or OPENQASM 3.0; (after comments)`
      )
    if (framework !== undefined && framework !== 'openqasm')
      throw new CliError('usage', `--framework ${framework}: ${nameOf(file)} is OpenQASM`)
    return { circuit: { format: version === '2' ? 'qasm2' : 'qasm3', payload: text } }
  }
  return { inline_code: text, framework }
}

/** The major version in the header, which comments may precede. Passes over each character once. */
function openqasmVersion(text: string): '2' | '3' | null {
  let rest = text.trimStart()
  while (rest.startsWith('//') || rest.startsWith('/*')) {
    const closing = rest.startsWith('//') ? '\n' : '*/'
    const end = rest.indexOf(closing, 2)
    if (end < 0) return null
    rest = rest.slice(end + closing.length).trimStart()
  }
  const header = /^OPENQASM\s+([23])(?:\.\d+)?\s*;/.exec(rest)
  return (header?.[1] as '2' | '3' | undefined) ?? null
}

/** `k=v`; a value that is JSON is sent as it stands, any other as a string. */
function paramOf(entry: string): [key: string, json: string] {
  const at = entry.indexOf('=')
  if (at < 1) throw new CliError('usage', `--param ${entry}: must be NAME=VALUE, such as theta=0.5`)
  const value = entry.slice(at + 1)
  try {
    JSON.parse(value)
    return [entry.slice(0, at), value]
  } catch {
    return [entry.slice(0, at), JSON.stringify(value)]
  }
}

async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      size += chunk.length
      if (size > FILE_BYTES_MAX)
        throw new CliError('usage', `${nameOf(file)}: is larger than the 4 MiB that the service takes`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError('usage', `${nameOf(file)}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
    if (text.trim() !== '') return text
  } catch {
    throw new CliError('usage', `${nameOf(file)}: is not text in UTF-8`)
  }
  throw new CliError('usage', `${nameOf(file)}: is empty`)
}

const nameOf = (file: string): string => (file === '-' ? 'standard input' : file)
