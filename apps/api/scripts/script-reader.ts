// Has the execution service read a script without running it: its kind, its errors, and its probable problems.
import type { FastifyRequest } from 'fastify'
import { type ErrorCode, ServiceError, validationError } from '../../../domain/errors.js'
import type { Framework } from '../../../domain/jobs/framework.js'
import { frameworkOfScript, type ScriptMetadata, type ScriptType } from '../../../domain/scripts/script.js'
import { type AnalysisCheck, hiddenDirections, withUniqueIds } from '../../../domain/scripts/script-analysis.js'
import { metadataOf, type ScriptReading } from '../../../domain/scripts/script-reading.js'
import type { InteractiveExecutor } from '../../../services/executor/routed-client.js'
import { userOf } from '../http/access.js'
import { createInteractiveRuns } from '../http/executor-calls.js'
import type { ScriptWarning } from './script-view.js'

/** The refusals of a reading that are not the script's fault. */
export const readErrors = ['worker_unreachable', 'worker_not_configured'] as const satisfies ErrorCode[]

/** A reading takes far less time than a run, and clients save several scripts at once. */
const readings = { what: 'scripts', inFlightMax: 5 }

export interface ReadScript {
  /** The framework that it runs under. */
  framework: Framework
  scriptType: ScriptType
  metadata: ScriptMetadata
  /** Each has the level `warning` and an id of its own. */
  warnings: AnalysisCheck[]
}

export interface ScriptToRead {
  content: string
  requirements: string | null
  teamId: string | null
  /** The script has run before, so errors that the reader reports are not faults of the script. */
  proven?: true
}

export interface ScriptReader {
  /**
   * @returns `null` when the client has disconnected.
   * @throws ServiceError `validation_error` naming the line of what is wrong, `rate_limited`, `worker_unreachable`,
   * `worker_not_configured`.
   */
  read(request: FastifyRequest, script: ScriptToRead): Promise<ReadScript | null>
  close(): void
}

export function createScriptReader(executor: InteractiveExecutor | null, deadlineMs?: number): ScriptReader {
  const runs = createInteractiveRuns(executor, deadlineMs, readings)
  return {
    async read(request, { content, requirements, teamId, proven }) {
      const user = userOf(request)
      const end = await runs.run(request, user.id, (service, signal) =>
        service.analyse(
          {
            run_id: 'analyse',
            request_id: request.id,
            code: content,
            requirements,
            keys: { user: user.id, team: teamId ?? user.id }
          },
          signal
        )
      )
      if (!end) return null
      if (end.kind === 'failed') throw validationError(`script_content: could not be read: ${end.error.message}`)
      const reading = JSON.parse(end.answer) as ScriptReading
      if (!proven) assertReadable(reading)
      return {
        framework: frameworkOfScript(reading.framework),
        scriptType: reading.script_type,
        metadata: metadataOf(reading),
        warnings: withUniqueIds([
          ...reading.warnings.map((warning) => ({ ...warning, level: 'warning' as const })),
          ...hiddenDirections(content)
        ])
      }
    },
    close: () => runs.close()
  }
}

/** Throws an error with the first fault as its message and all of them in a field. */
function assertReadable({ errors }: ScriptReading): void {
  const [first] = errors
  if (!first) return
  const others = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const faults = errors.map(({ message, line, column, source }) => ({
    field: source === 'requirements' ? 'requirements' : 'script_content',
    message,
    line,
    column
  }))
  throw new ServiceError('validation_error', `${faultText(first)}${others}`, { errors: faults })
}

function faultText({ message, line, column, source }: ScriptReading['errors'][number]): string {
  // A fault of the requirements names its place itself.
  if (source === 'requirements') return message
  const place = line === null ? '' : `, line ${line}${column === null ? '' : `, column ${column}`}`
  return `script_content${place}: ${message}`
}

/** Whether a warning is about the requirements, whose message then names its place itself. */
const isOfRequirements = ({ id }: AnalysisCheck): boolean => id.startsWith('requirement')

/** A warning in words, with its line. */
export const warningText = (warning: AnalysisCheck): string =>
  warning.line === undefined || isOfRequirements(warning) ? warning.message : `line ${warning.line}: ${warning.message}`

/** A warning with its place, as faults have theirs. */
export const warningView = (warning: AnalysisCheck): ScriptWarning => ({
  field: isOfRequirements(warning) ? 'requirements' : 'script_content',
  message: warning.message,
  line: warning.line ?? null
})
