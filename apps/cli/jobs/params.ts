// Builds the parameters of a job from `--param NAME=VALUE`.
import { CliError } from '../terminal/cli-error.js'
import { nameOf, readText } from '../terminal/text-file.js'

/** Parameters with their own option. */
const withOption = ['shots', 'seed']

/**
 * Returns the object as JSON text. It is built as text so that an integer beyond 2^53 is sent exactly as typed.
 * @param entries `NAME=VALUE`, where a value that is JSON is kept and any other becomes a string; `NAME=@FILE` for a JSON file.
 * @throws CliError `usage` naming the parameter.
 */
export async function paramsJson(shots: number, seed: number | undefined, entries: string[]): Promise<string> {
  const params = new Map([['shots', String(shots)]])
  if (seed !== undefined) params.set('seed', String(seed))
  return join(params, entries, withOption)
}

/** The same for entries without options. */
export const paramEntriesJson = (entries: string[]): Promise<string> => join(new Map(), entries, ['shots'])

/** @param options the names with their own option. */
async function join(params: Map<string, string>, entries: string[], options: string[]): Promise<string> {
  for (const entry of entries) {
    const [name, value] = await paramOf(entry)
    if (options.includes(name)) throw new CliError('usage', `--param ${name}: use --${name}`)
    if (params.has(name)) throw new CliError('usage', `--param ${name}: must be given only once`)
    params.set(name, value)
  }
  return `{${[...params].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

async function paramOf(entry: string): Promise<[name: string, json: string]> {
  const at = entry.indexOf('=')
  if (at < 1) throw new CliError('usage', `--param ${entry}: must be NAME=VALUE, such as theta=0.5`)
  const [name, value] = [entry.slice(0, at), entry.slice(at + 1)]
  if (!value.startsWith('@')) return [name, isJson(value) ? value : JSON.stringify(value)]
  const file = value.slice(1)
  if (file === '') throw new CliError('usage', `--param ${name}=@: must name a file after the @`)
  const text = await readText(file)
  if (!isJson(text)) throw new CliError('usage', `--param ${name}: ${nameOf(file)} is not JSON`)
  return [name, text.trim()]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
