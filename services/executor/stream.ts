// Reads the response to an execution, which the execution service streams as one JSON object per line: `accepted`,
// heartbeats, pieces of what the program prints, pieces of files, and last the outcome, whose long texts follow it as they are
// (apart-texts.ts).
import type { Artifact } from '../../db/jobs/artifacts.js'
import { isErrorCode, type JobError } from '../../domain/errors.js'
import { type Framework, frameworks } from '../../domain/jobs/framework.js'
import type { RequestedCircuit, RequestedGraph } from '../../domain/jobs/script-requests.js'
import { OUTPUT_BYTES_MAX } from '../../domain/jobs/value-limits.js'
import { ApartTexts } from './apart-texts.js'

/**
 * `busy` and `away` come before acceptance and cost nothing. `refused`: the same request will be refused again. `lost`: the
 * execution was accepted, and its outcome is unknown; with `shutDown` because the service stopped, which is no fault of
 * the execution. `result` is JSON text, not parsed here: its integers can exceed what a
 * JavaScript number holds. `artifacts` are the files that the program wrote; `framework` is the one that the executor found
 * the program to use.
 */
export type RunEnd =
  | ({ kind: 'completed'; result: string; artifacts: Artifact[]; framework: Framework | null } & Shown)
  | { kind: 'failed'; error: JobError }
  | { kind: 'lost'; message: string; shutDown?: true }
  | Refusal

/** The first points of a sweep, in order: at least one, and as many as there was time and room for. */
export type PointsEnd = Exclude<RunEnd, { kind: 'completed' }> | { kind: 'points'; points: PointEnd[] }

/** `result` is JSON text of an object, not parsed here. */
export type PointEnd = { result: string } | { error: JobError }

/** For a task: its result for people to read, as JSON text, or why there is none; and its standard output. */
export interface Shown {
  display: string | null
  displayProblem: string | null
  stdout: string
  /** Of a task: up to two different numbers of shots with which it ran circuits. */
  deviceShots: number[] | null
}

/**
 * The service cannot be reached, unless `why` says otherwise. `unfit`: it refuses to execute code because it found no
 * isolation. `fault`: it failed at this request before it executed anything; it may serve others. `draining`: it finishes
 * what it executes and stops. `engine`: it lacks the engine. `protocol`: it speaks another protocol.
 */
export interface Away {
  kind: 'away'
  message: string
  why?: 'unfit' | 'fault' | 'draining' | 'engine' | 'protocol'
}

/** Every slot is taken. */
export interface Busy {
  kind: 'busy'
  retryAfterSeconds: number
}

/** The service's responses before an execution has started. */
export type Refusal = Busy | Away | { kind: 'refused'; message: string; code?: 'execution_service_lost' }

/** Nothing was executed, and another executor can take the request. */
export const isUntaken = (end: { kind: string }): end is Busy | Away => end.kind === 'busy' || end.kind === 'away'

/**
 * The end of an execution that can request work. `asked`: it requested some; if it is `parked`, its child waits for a while
 * in the executor with the id `executor`. `not_parked`: the execution that was to continue is gone.
 */
export type ScriptEnd =
  | RunEnd
  | { kind: 'asked'; ask: RequestedGraph | RequestedCircuit; parked: boolean; executor: string | null }
  | { kind: 'not_parked'; message: string }

/**
 * A piece of what the program prints. `offset` is its place in bytes of the whole text, and `truncatedBytes` how much was
 * printed after the last text, so far.
 */
export interface PrintedPiece {
  offset: number
  text: string
  truncatedBytes: number
}

/** Called with each piece while the program runs. Must return at once. */
export type OnPrinted = (piece: PrintedPiece) => void

/** All files of one execution together. */
export const ARTIFACT_BYTES_MAX = 32 * 1024 * 1024
const ARTIFACTS_MAX = 20
// The service sends a heartbeat every 5 s during an execution; after four missed ones it counts as gone.
const SILENCE_TIMEOUT_MS = 20_000
// An executor of an earlier release sends a result of 16 MiB as an escaped JSON string of up to twice that; a longer line
// breaks the protocol.
const LINE_MAX = 40 * 1024 * 1024

interface Line {
  accepted?: { framework?: unknown; executor?: unknown }
  output?: { offset?: unknown; text?: unknown; truncated_bytes?: unknown }
  artifact?: { name?: unknown; media_type?: unknown; chunk?: unknown; last?: unknown }
  outcome?: {
    status?: unknown
    result?: unknown
    error?: Fault
    display?: unknown
    display_problem?: unknown
    device_shots?: unknown
    stdout?: unknown
    points?: unknown
    ask?: RequestedGraph | RequestedCircuit
    parked?: unknown
  }
}

interface Fault {
  code?: unknown
  message?: unknown
  line?: unknown
}

/**
 * Reads the response of an execution to its end.
 * @param accepted is awaited when the execution has started; if it returns `false`, the execution is stopped as lost.
 * @param abort is called when the service has been silent for too long.
 * @param printed gets what the program prints.
 */
export async function readRun(
  body: AsyncIterable<Buffer>,
  accepted: () => Promise<boolean>,
  abort: () => void,
  printed: OnPrinted = () => {}
): Promise<ScriptEnd | PointsEnd> {
  let wasAccepted = false
  let framework: Framework | null = null
  let executor: string | null = null
  let end: ScriptEnd | PointsEnd | null = null
  const files = new ArtifactFiles()
  try {
    for await (const line of linesOf(body, abort)) {
      if (line.accepted !== undefined) {
        wasAccepted = true
        framework = frameworks.find((name) => name === line.accepted?.framework) ?? null
        executor = instanceOf(line.accepted.executor)
        if (!(await accepted())) return { kind: 'lost', message: 'the job was taken from this worker' }
      } else if (line.output !== undefined) {
        const piece = pieceOf(line.output)
        if (piece) printed(piece)
      } else if (line.artifact !== undefined) files.add(line.artifact)
      // Reads to the end of the stream: a connection with unread data cannot serve the next request.
      else if (line.outcome !== undefined) end ??= readOutcome(line.outcome, files, { framework, executor })
    }
  } catch (error) {
    if (end) return end
    if (!wasAccepted) return { kind: 'away', message: connectionFault(error) }
    return { kind: 'lost', message: `the execution service went away during the run (${connectionFault(error)})` }
  }
  if (end) return end
  return wasAccepted
    ? { kind: 'lost', message: 'the execution service closed the stream without an outcome' }
    : { kind: 'away', message: 'the execution service closed the stream before it accepted the run' }
}

async function* linesOf(body: AsyncIterable<Buffer>, abort: () => void): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let size = 0
  let last: { line: Line; texts: ApartTexts } | null = null
  let silence = setTimeout(abort, SILENCE_TIMEOUT_MS)
  try {
    for await (const chunk of body) {
      clearTimeout(silence)
      silence = setTimeout(abort, SILENCE_TIMEOUT_MS)
      let rest = chunk
      for (let end = rest.indexOf(10); end >= 0 && !last; end = rest.indexOf(10)) {
        parts.push(rest.subarray(0, end))
        const line = JSON.parse(Buffer.concat(parts).toString('utf8')) as Line
        parts = []
        size = 0
        rest = rest.subarray(end + 1)
        const texts = line.outcome ? ApartTexts.of(line.outcome) : null
        if (texts) last = { line, texts }
        else yield line
      }
      if (last) {
        if (last.texts.add(rest)) yield last.line
        continue
      }
      parts.push(rest)
      size += rest.length
      if (size > LINE_MAX) throw new Error('a line of the execution service is too long')
    }
  } finally {
    clearTimeout(silence)
  }
}

/** `null` for a piece that breaks the protocol: its text is not worth the execution. */
function pieceOf({ offset, text, truncated_bytes: truncated = 0 }: NonNullable<Line['output']>): PrintedPiece | null {
  if (!isCount(offset) || !isCount(truncated) || typeof text !== 'string') return null
  if (offset + Buffer.byteLength(text) > OUTPUT_BYTES_MAX || text.includes('\0')) return null
  return { offset, text: text.toWellFormed(), truncatedBytes: truncated }
}

/** Whether a value is a number of bytes that the database can hold. */
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31

// Names become addresses and file names, media types become headers.
const nameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const mediaTypeShape = /^[a-z0-9.+-]{1,50}\/[a-z0-9.+-]{1,50}(; charset=utf-8)?$/

/** Assembles files from their pieces; one file follows another. */
class ArtifactFiles {
  readonly #done = new Map<string, Artifact>()
  #open: { name: string; mediaType: string; pieces: Buffer[] } | null = null
  #bytes = 0

  /** @throws Error when the service breaks the protocol. */
  add({ name, media_type: mediaType, chunk, last }: NonNullable<Line['artifact']>): void {
    if (typeof name !== 'string' || !nameShape.test(name)) throw new Error('a file has an invalid name')
    if (typeof mediaType !== 'string' || !mediaTypeShape.test(mediaType))
      throw new Error(`file ${name} has an invalid media type`)
    if (typeof chunk !== 'string') throw new Error(`file ${name} has a piece that is not text`)
    this.#open ??= { name, mediaType, pieces: [] }
    if (this.#open.name !== name || this.#done.has(name) || this.#done.size === ARTIFACTS_MAX)
      throw new Error(`file ${name} arrived out of order`)
    const piece = Buffer.from(chunk, 'base64')
    this.#bytes += piece.length
    // Pieces beyond the limit are dropped; the outcome then fails with the reason.
    if (this.#bytes <= ARTIFACT_BYTES_MAX) this.#open.pieces.push(piece)
    if (last !== true) return
    this.#done.set(name, { name, mediaType, content: Buffer.concat(this.#open.pieces) })
    this.#open = null
  }

  get tooLarge(): boolean {
    return this.#bytes > ARTIFACT_BYTES_MAX
  }

  /** @throws Error when the last file has no end. */
  all(): Artifact[] {
    if (this.#open) throw new Error(`file ${this.#open.name} has no end`)
    return [...this.#done.values()]
  }
}

function readOutcome(
  outcome: NonNullable<Line['outcome']>,
  files: ArtifactFiles,
  { framework, executor }: { framework: Framework | null; executor: string | null }
): ScriptEnd | PointsEnd {
  if (outcome.status === 'completed' && typeof outcome.result === 'string') {
    if (!files.tooLarge)
      return {
        kind: 'completed',
        result: outcome.result,
        artifacts: files.all(),
        framework,
        display: textOf(outcome.display),
        displayProblem: textOf(outcome.display_problem),
        stdout: textOf(outcome.stdout) ?? '',
        deviceShots: shotsOf(outcome.device_shots)
      }
    const message = `the files of this run are larger than ${ARTIFACT_BYTES_MAX / 1024 / 1024} MiB together`
    return { kind: 'failed', error: { code: 'execution_error', message } }
  }
  const points = outcome.status === 'completed' ? pointsOf(outcome.points) : null
  if (points) return { kind: 'points', points }
  if (outcome.status === 'asked' && outcome.ask)
    return { kind: 'asked', ask: outcome.ask, parked: outcome.parked === true, executor }
  if (outcome.status === 'failed') return { kind: 'failed', error: readFault(outcome.error) }
  const { code, message } = readFault(outcome.error)
  return { kind: 'lost', message, ...(code === 'executor_shut_down' && { shutDown: true }) }
}

function pointsOf(value: unknown): PointEnd[] | null {
  if (!Array.isArray(value) || value.length === 0) return null
  return (value as { result?: unknown; error?: Fault }[]).map(({ result, error }) =>
    typeof result === 'string' ? { result } : { error: readFault(error) }
  )
}

const shotsOf = (value: unknown): number[] | null =>
  Array.isArray(value) && value.every(Number.isSafeInteger) ? (value as number[]) : null

/** The id of an executor becomes a value in the database. */
const instanceOf = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w-]{1,100}$/.test(value) ? value : null

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The line in the code becomes part of the message, if the message does not name it. */
export function readFault({ code, message, line }: Fault = {}): JobError {
  const reason = typeof message === 'string' ? message : 'no reason was given'
  return {
    code: isErrorCode(code) ? code : 'execution_error',
    message: typeof line === 'number' && !/\bline \d/.test(reason) ? `line ${line}: ${reason}` : reason
  }
}

export const connectionFault = (error: unknown): string => {
  const { code, message } = error as { code?: string; message?: string }
  return code ?? message ?? String(error)
}
