// The playground of the server: it runs a program and waits for its counts, or converts one to OpenQASM.
import { jsonFields } from '../../../../domain/json/json-text.js'
import { api, bodyOf } from '../../api/client.js'
import type { FinishedRun } from './finished-run.js'

export interface ServerRun {
  program: string
  language: string
  backend: string
  shots: string
}

export async function runOnServer(run: ServerRun, signal: AbortSignal): Promise<FinishedRun> {
  const { program, language, backend, shots } = run
  // What is not a number is refused by the service, so the body is wider than the document says.
  const number = Number(shots)
  const body = { code: program, language, backend, shots: shots.trim() === '' || Number.isNaN(number) ? shots : number }
  const result = (await bodyOf(
    api.POST('/api/playground/run', { body: body as never, signal, parseAs: 'text' })
  )) as unknown as string
  const fields = jsonFields(result)
  const parsed = (name: string): unknown => JSON.parse(fields.get(name) ?? 'null')
  const [warnings, stdout, ms] = [parsed('warnings'), parsed('stdout'), parsed('execution_time_ms')]
  return {
    where: `${backend} on the server`,
    result,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    stdout: typeof stdout === 'string' ? stdout : '',
    ms: typeof ms === 'number' ? ms : null,
    exact: null,
    converted: null
  }
}

/** The circuit of a Python program, as OpenQASM 3. */
export const convert = (code: string, language: string, signal: AbortSignal) =>
  bodyOf(api.POST('/api/playground/convert', { body: { code, language: language as never }, signal }))
