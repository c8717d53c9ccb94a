// Runs Schemathesis, from the project's Python environment, as a process of its own.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { everything } from '../lane.js'
import type { ApiDocument } from './documented.js'

const checks = [
  'not_a_server_error',
  // Data that the document forbids must be refused.
  'negative_data_rejection',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance'
]

/** Otherwise it would use ids from responses to suspend the team and end the session that it works with. */
const settings = `
[cache]
enabled = false
[phases.examples.extra-data-sources]
responses = false
[phases.coverage]
unexpected-methods = ["TRACE"]
[phases.coverage.extra-data-sources]
responses = false
[phases.fuzzing.extra-data-sources]
responses = false
`

export interface Findings {
  /** Its report of the faults, or why it stopped early. Empty when it found none. */
  faults: string
  /** The share of operations that succeeded at least once, since a run with an invalid credential finds no faults. */
  succeeded: number
}

/**
 * Calls every operation of the document.
 * @param options.name of a folder in .test/schemathesis, which is left for inspection when there are faults.
 * @param options.args the address, the credentials and the number of requests.
 */
export async function runSchemathesis(
  document: ApiDocument,
  options: { name: string; limitMs: number; args: string[] }
): Promise<Findings> {
  const folder = join(projectRoot, '.test', 'schemathesis', options.name)
  mkdirSync(folder, { recursive: true })
  const [file, report] = [join(folder, 'openapi.json'), join(folder, 'events.ndjson')]
  writeFileSync(file, JSON.stringify(document))
  writeFileSync(join(folder, 'schemathesis.toml'), settings)
  const { code, printed } = await ended(folder, options.limitMs, [
    ...[
      'run',
      file,
      ...options.args,
      '--checks',
      checks.join(','),
      '--phases',
      everything ? 'examples,coverage,fuzzing' : 'examples,fuzzing'
    ],
    ...['--workers', '2', '--generation-database', 'none', '--request-timeout', '60', '--max-failures', '20'],
    ...['--no-color', '--warnings', 'off', '--report', 'ndjson', '--report-ndjson-path', report]
  ])
  if (code !== 0) {
    writeFileSync(join(folder, 'output.txt'), printed)
    const faults = /={9,} (?:FAILURES|ERRORS) .*/s.exec(printed)?.[0] ?? printed
    return { faults: `${code === null ? 'took too long' : `exit code ${code}`}\n${faults}`, succeeded: 0 }
  }
  const succeeded = shareThatSucceeded(readFileSync(report, 'utf8'))
  rmSync(folder, { recursive: true })
  return { faults: '', succeeded }
}

/** @returns code `null` for a process that was stopped at its time limit. */
async function ended(
  folder: string,
  limitMs: number,
  args: string[]
): Promise<{ code: number | null; printed: string }> {
  const child = spawn(join(projectRoot, '.venv/bin/schemathesis'), args, {
    cwd: folder,
    env: { PATH: process.env.PATH!, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      printed += chunk
    })
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  clearTimeout(late)
  return { code, printed }
}

/** @param report one event per line; the event of a finished scenario has all its responses. */
function shareThatSucceeded(report: string): number {
  const succeeded = new Map<string, boolean>()
  for (const line of report.split('\n')) {
    if (!line.startsWith('{"ScenarioFinished"')) continue
    const { label, interactions = {} } = JSON.parse(line).ScenarioFinished.recorder
    const answers = Object.values(interactions) as { response: { status_code: number } | null }[]
    const well = answers.some(({ response }) => response !== null && response.status_code < 400)
    succeeded.set(label, well || succeeded.get(label) === true)
  }
  return [...succeeded.values()].filter(Boolean).length / succeeded.size
}
