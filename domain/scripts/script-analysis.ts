// The analysis of a script before it runs, and the consent that a submission must include.
import { ServiceError, validationError } from '../errors.js'
import { formatUsd, type MicroUsd } from '../money/money.js'

export const checkLevels = ['info', 'warning', 'error'] as const

export interface AnalysisCheck {
  /** Unique within its analysis. */
  id: string
  /** A `warning` needs the submitter's consent. An `error` blocks the script. */
  level: (typeof checkLevels)[number]
  message: string
  line?: number
}

/** The stored subject and outcome of an analysis. */
export interface StoredAnalysis {
  scriptId: string
  teamId: string
  sourceSha256: string
  backend: string
  shots: number
  circuitCount: number
  checks: AnalysisCheck[]
  cost: MicroUsd
}

/** The same facts of the submission that names the analysis, with `cost` at current prices. */
export type SubmittedScript = Omit<StoredAnalysis, 'checks'>

/**
 * @param kept `null` when the analysis does not exist or has expired.
 * @throws ServiceError `analysis_mismatch` when the submission differs from what was analysed, `validation_error` for a
 * warning without consent.
 */
export function assertAnalysed(
  kept: StoredAnalysis | null,
  submitted: SubmittedScript,
  consents: readonly string[]
): asserts kept {
  if (!kept || kept.teamId !== submitted.teamId)
    throw mismatch('no analysis of this team has this id, or it is older than a week')
  if (kept.scriptId !== submitted.scriptId) throw mismatch('the analysis is of another script')
  if (kept.sourceSha256 !== submitted.sourceSha256) throw mismatch('the script has changed since')
  for (const [name, field] of [
    ['backend', 'backend'],
    ['params.shots', 'shots'],
    ['params.circuit_count', 'circuitCount']
  ] as const)
    if (kept[field] !== submitted[field])
      throw mismatch(`the analysis is for ${name} ${kept[field]} (got ${submitted[field]})`)
  if (submitted.cost > kept.cost)
    throw mismatch(`it now costs ${formatUsd(submitted.cost)}, the analysis said ${formatUsd(kept.cost)}`)
  const errors = kept.checks.filter(({ level }) => level === 'error')
  if (errors.length > 0)
    throw validationError(
      `analysis_id: the analysis found what prevents the run: ${errors.map(({ message }) => message).join('; ')}`
    )
  const unnamed = kept.checks.filter(({ id, level }) => level === 'warning' && !consents.includes(id))
  if (unnamed.length > 0)
    throw validationError(
      `warn_check_ids: these warnings of the analysis need your consent: ${unnamed.map(({ id }) => id).join(', ')}`
    )
}

const mismatch = (what: string) =>
  new ServiceError('analysis_mismatch', `analysis_id: ${what}; analyse the script again and submit with the new id`)

/** Returns the checks in order, each with a unique id: the second of a kind gets the suffix -2. */
export function withUniqueIds(checks: AnalysisCheck[]): AnalysisCheck[] {
  const seen = new Map<string, number>()
  return checks.map((check) => {
    const times = (seen.get(check.id) ?? 0) + 1
    seen.set(check.id, times)
    return times === 1 ? check : { ...check, id: `${check.id}-${times}` }
  })
}

/** The hint by which clients recognise a text: djb2 over its UTF-16 units, as a signed 32-bit number in decimal. */
export function textHint(text: string): string {
  let hash = 5381
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 33) + text.charCodeAt(at)) | 0
  return String(hash)
}

/** Characters that reverse the writing direction and so make a text look different from its content. */
const turning = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/

/** Finds places where a source can look different from what it does. */
export function hiddenDirections(content: string): AnalysisCheck[] {
  const at = content.search(turning)
  if (at < 0) return []
  const point = content.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')
  return [
    {
      id: 'hidden_direction',
      level: 'warning',
      message: `holds the invisible character U+${point}, which reverses the direction of text: the code can look different from what it does`,
      line: content.slice(0, at).split('\n').length
    }
  ]
}
