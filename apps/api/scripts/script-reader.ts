// Reads a script in the execution service, which never runs it for that: what it is, what is wrong with it, and what will
// probably go wrong.
import type { FastifyRequest } from 'fastify'
import { type ErrorCode, ServiceError, validationError } from '../../../domain/errors.js'
import type { Framework } from '../../../domain/jobs/framework.js'
import { frameworkOfScript, type ScriptMetadata, type ScriptType } from '../../../domain/scripts/script.js'
import { type AnalysisCheck, hiddenDirections, withUniqueIds } from '../../../domain/scripts/script-analysis.js'
import { metadataOf, type ScriptReading } from '../../../domain/scripts/script-reading.js'
import type { ExecutorClient } from '../../../services/executor/client.js'
import { userOf } from '../http/access.js'
import { createInteractiveRuns } from '../http/executor-calls.js'

/** The refusals of a reading that are not the script's fault. */
export const readErrors = ['worker_unreachable', 'worker_not_configured'] as const satisfies ErrorCode[]

/** Reading takes far less than a run, and a client may well save several scripts at once. */
const readings = { what: 'scripts', inFlightMax: 5 }

export interface ReadScript {
  /** The one that it runs under. */
  framework: Framework
  scriptType: ScriptType
  metadata: ScriptMetadata
  /** Each of level `warning`, under an id of its own. */
  warnings: AnalysisCheck[]
}

export interface ScriptToRead {
  content: string
  requirements: string | null
  teamId: string | null
  /** It has run before, so what the reader thinks wrong is none of its faults. */
  proven?: true
}

export interface ScriptReader {
  /**
   * @returns `null` when the caller has hung up.
   * @throws ServiceError `validation_error` naming the line of what is wrong, `rate_limited`, `worker_unreachable`,
   * `worker_not_configured`.
   */
  read(request: FastifyRequest, script: ScriptToRead): Promise<ReadScript | null>
  close(): void
}

export function createScriptReader(executor: ExecutorClient | null, deadlineMs?: number): ScriptReader {
  const runs = createInteractiveRuns(executor, deadlineMs, readings)
  return {
    async read(request, { content, requirements, teamId, proven }) {
      const user = userOf(request)
      const end = await runs.ask(request, user.id, (service, signal) =>
        service.analyse({ code: content, requirements, keys: { user: user.id, team: teamId ?? user.id } }, signal)
      )
      if (!end) return null
      if (end.kind === 'failed') throw validationError(`script_content: could not be read: ${end.error.message}`)
      const answer = JSON.parse(end.answer) as ScriptReading
      if (!proven) assertReadable(answer)
      return {
        framework: frameworkOfScript(answer.framework),
        scriptType: answer.script_type,
        metadata: metadataOf(answer),
        warnings: withUniqueIds([
          ...answer.warnings.map((warning) => ({ ...warning, level: 'warning' as const })),
          ...hiddenDirections(content)
        ])
      }
    },
    close: () => runs.close()
  }
}

/** The first fault in words, all that were found beside it. */
function assertReadable({ errors }: ScriptReading): void {
  const [first] = errors
  if (!first) return
  const others = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const told = errors.map(({ message, line, column, source }) => ({
    field: source === 'requirements' ? 'requirements' : 'script_content',
    message,
    line,
    column
  }))
  throw new ServiceError('validation_error', `${faultText(first)}${others}`, { errors: told })
}

function faultText({ message, line, column, source }: ScriptReading['errors'][number]): string {
  // A fault of the requirements says itself where it is.
  if (source === 'requirements') return message
  const place = line === null ? '' : `, line ${line}${column === null ? '' : `, column ${column}`}`
  return `script_content${place}: ${message}`
}

/** A warning in words, with its line. */
export const warningText = ({ id, message, line }: AnalysisCheck): string =>
  line === undefined || id.startsWith('requirement') ? message : `line ${line}: ${message}`
