// What a caller is told about a script before it runs, and what a submission owes to it.
import { ServiceError } from '../errors.js'
import { formatUsd, type MicroUsd } from '../money/money.js'

export const checkLevels = ['info', 'warning', 'error'] as const

export interface AnalysisCheck {
  /** Unique within its analysis. */
  id: string
  /** A `warning` needs the consent of whoever submits, an `error` keeps the script from running. */
  level: (typeof checkLevels)[number]
  message: string
  line?: number
}

/** What an analysis was about, as it is kept. */
export interface KeptAnalysis {
  scriptId: string
  teamId: string
  sourceSha256: string
  backend: string
  shots: number
  circuitCount: number
  checks: AnalysisCheck[]
  cost: MicroUsd
}

/** The same of the submission that names it; `cost` at present prices. */
export type SubmittedScript = Omit<KeptAnalysis, 'checks'>

/**
 * @param kept `null`: nobody has made such an analysis, or it was kept long enough.
 * @throws ServiceError `analysis_mismatch` when the submission is not the one that was analysed, `validation_error` for a
 * warning without consent.
 */
export function assertAnalysed(
  kept: KeptAnalysis | null,
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
  const unnamed = kept.checks.filter(({ id, level }) => level === 'warning' && !consents.includes(id))
  if (unnamed.length > 0)
    throw new ServiceError(
      'validation_error',
      `warn_check_ids: these warnings of the analysis need your consent: ${unnamed.map(({ id }) => id).join(', ')}`
    )
}

const mismatch = (what: string) =>
  new ServiceError('analysis_mismatch', `analysis_id: ${what}; analyse the script again and submit with the new id`)

/** Checks in their order, each under an id of its own: a second of one kind gets -2. */
export function withOwnIds(checks: AnalysisCheck[]): AnalysisCheck[] {
  const seen = new Map<string, number>()
  return checks.map((check) => {
    const times = (seen.get(check.id) ?? 0) + 1
    seen.set(check.id, times)
    return times === 1 ? check : { ...check, id: `${check.id}-${times}` }
  })
}

/** The hint that clients know a text by: djb2 over its UTF-16 units, a signed number of 32 bits in decimal. */
export function textHint(text: string): string {
  let hash = 5381
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 33) + text.charCodeAt(at)) | 0
  return String(hash)
}

/** Characters that make a text look different from what it says: they turn the direction of writing. */
const turning = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/

/** Where a source cannot be trusted to be what it looks like. */
export function hiddenDirections(content: string): AnalysisCheck[] {
  const at = content.search(turning)
  if (at < 0) return []
  const point = content.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')
  return [
    {
      id: 'hidden_direction',
      level: 'warning',
      message: `holds the invisible character U+${point}, which turns the direction of text: the code may look different from what it does`,
      line: content.slice(0, at).split('\n').length
    }
  ]
}
