// Builds the body of a submission from a file or a saved script, and the command's options.
import { extname } from 'node:path'
import { isAnalogProgram } from '../../../domain/jobs/circuits/analog-program.js'
import { declaresQubits, withoutLeadingComments } from '../../../domain/jobs/circuits/openqasm-text.js'
import { detectFramework, type Framework } from '../../../domain/jobs/framework.js'
import type { CircuitFormat } from '../../../domain/jobs/source.js'
import { AUTO_BACKEND, INLINE_CODE_MAX } from '../../../domain/jobs/submission.js'
import type { TeamOptions } from '../session/choice.js'
import { CliError } from '../terminal/cli-error.js'
import { nameOf, readText } from '../terminal/text-file.js'
import { paramsJson } from './params.js'

export interface ParamOptions {
  shots: number
  param: string[]
  seed?: number
  /** A file with the points of a sweep. */
  points?: string
}

export interface WishOptions {
  maxCost?: number
  maxWait?: number
  minQubits?: number
  hardware?: boolean
  simulator?: boolean
}

export interface SubmitOptions extends ParamOptions, WishOptions, TeamOptions {
  backend: string
  mode?: string
  framework?: string
  name?: string
  label: string[]
  timeout?: number
  notBefore?: string
  notify?: boolean
  /** For a saved script: its earlier analysis, and the accepted warnings. */
  analysis?: string
  consent?: string[]
}

/** What to run: a file (`-` stands for standard input), several circuits, or a saved script. */
export type Source = { files: string[] } | { scriptId: string } | { scriptSlug: string }

interface Circumstances {
  /** The team that `options` name; the service has its default. */
  teamId?: string | undefined
  /** The framework for Python code that names none. Without it, the service refuses such code. */
  otherwise?: Framework
}

/** Returns JSON text. @throws CliError `usage` naming the option or file. */
export async function submissionBody(
  source: Source,
  options: SubmitOptions,
  { teamId, otherwise }: Circumstances = {}
): Promise<string> {
  const body = {
    ...(await sourceFields(source, options.framework, otherwise)),
    team_id: teamId,
    backend: options.backend,
    choose: wishes(options.backend, options),
    execution_mode: options.mode,
    name: options.name,
    labels: options.label.length > 0 ? options.label : undefined,
    max_cost_usd: options.maxCost,
    timeout_seconds: options.timeout,
    not_before: options.notBefore,
    notify: options.notify ? 'email' : undefined,
    analysis_id: options.analysis,
    warn_check_ids: options.analysis === undefined ? undefined : options.consent
  }
  return `${JSON.stringify(body).slice(0, -1)},"params":${await paramsOf(options)}}`
}

/**
 * The body of an estimate, as JSON text.
 * @param circuits that the code runs; 1 when left out.
 * @param qubits the width of its circuit, if it is known.
 * @throws CliError `usage` naming the option or file.
 */
export async function estimateBody(
  backend: string,
  options: ParamOptions & WishOptions & { circuits?: number; qubits?: number },
  teamId: string | undefined
): Promise<string> {
  const body = {
    backend,
    choose: wishes(backend, options),
    max_cost_usd: options.maxCost,
    qubits: options.qubits,
    team_id: teamId
  }
  const count = options.circuits === undefined ? [] : [`circuit_count=${options.circuits}`]
  return `${JSON.stringify(body).slice(0, -1)},"params":${await paramsOf(options, count)}}`
}

function paramsOf({ shots, seed, param, points }: ParamOptions, others: string[] = []): Promise<string> {
  const ofPoints = points === undefined ? [] : [`points=@${points}`]
  return paramsJson(shots, seed, [...param, ...ofPoints, ...others])
}

/** The wishes of the backend auto. @throws CliError `usage` for wishes without it. */
function wishes(backend: string, options: WishOptions): object | undefined {
  const { maxWait, minQubits, hardware, simulator } = options
  const given = {
    '--max-wait': maxWait,
    '--min-qubits': minQubits,
    '--hardware': hardware,
    '--simulator': simulator
  }
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (names.length === 0) return undefined
  if (backend !== AUTO_BACKEND) throw new CliError('usage', `${names.join(', ')}: only for the backend auto`)
  return { max_wait_seconds: maxWait, min_qubits: minQubits, hardware: simulator ? false : hardware }
}

async function sourceFields(
  source: Source,
  framework: string | undefined,
  otherwise: Framework | undefined
): Promise<Record<string, unknown>> {
  if ('files' in source) return filesFields(source.files, framework, otherwise)
  return { ...('scriptId' in source ? { script_id: source.scriptId } : { script_slug: source.scriptSlug }), framework }
}

async function filesFields(files: string[], framework: string | undefined, otherwise: Framework | undefined) {
  const [first, ...others] = files as [string, ...string[]]
  if (others.length === 0) return fileFields(first, await readText(first), framework, otherwise)
  const circuits: unknown[] = []
  for (const file of files) {
    const { circuit } = fileFields(file, await readText(file), framework, otherwise)
    if (!circuit || (circuit as { format: CircuitFormat }).format === 'ahs')
      throw new CliError('usage', `${nameOf(file)}: several files must all be OpenQASM`)
    circuits.push(circuit)
  }
  return { circuits }
}

/** OpenQASM and analog programs are sent as circuits, which can be longer than code; anything else is code. */
function fileFields(
  file: string,
  text: string,
  framework: string | undefined,
  otherwise: Framework | undefined
): Record<string, unknown> {
  if (isAnalogProgram(text)) {
    if (framework !== undefined)
      throw new CliError('usage', `--framework ${framework}: ${nameOf(file)} is an analog program, which has none`)
    return { circuit: { format: 'ahs', payload: text } }
  }
  const version = openqasmVersion(text)
  if (
    extname(file) === '.qasm' ||
    framework === 'openqasm' ||
    (version && framework === undefined && extname(file) !== '.py')
  ) {
    if (!version && !declaresQubits(text))
      throw new CliError(
        'usage',
        `${nameOf(file)}: must begin with OPENQASM 2.0; or OPENQASM 3.0; (after comments), or declare qubits`
      )
    const format = version === '2' ? 'qasm2' : 'qasm3'
    const isDialect = format === 'qasm3' && (framework === 'braket' || framework === 'marqov')
    if (framework !== undefined && framework !== 'openqasm' && !isDialect)
      throw new CliError('usage', `--framework ${framework}: ${nameOf(file)} is OpenQASM`)
    return { circuit: { format, payload: text }, framework: isDialect ? framework : undefined }
  }
  const length = [...text].length
  if (length > INLINE_CODE_MAX)
    throw new CliError(
      'usage',
      `${nameOf(file)}: must have at most ${INLINE_CODE_MAX} characters (got ${length}): save it with ` +
        'qjob scripts upload, and run it with qjob scripts run'
    )
  return { inline_code: text, framework: framework ?? (detectFramework(text) === null ? otherwise : undefined) }
}

/** The major version in the header, after any comments. */
function openqasmVersion(text: string): '2' | '3' | null {
  const header = /^OPENQASM\s+([23])(?:\.\d+)?\s*;/.exec(withoutLeadingComments(text))
  return (header?.[1] as '2' | '3' | undefined) ?? null
}
