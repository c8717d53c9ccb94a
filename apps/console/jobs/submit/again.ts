// An earlier job as the form has it: all that a run again keeps is filled in, or sent along where the form cannot show it.
import { parse, stringify } from 'lossless-json'
import type { JobRecord, ReadJob } from '../record/job-record.js'
import { emptyForm, type SubmitForm } from './submission.js'

/** Longer parameters, such as the points of a sweep, are sent along unseen: a field of that size cannot be edited. */
const SHOWN_CHARACTERS = 32 * 1024

export interface Again {
  start: SubmitForm
  /** Parameters that the form does not show. */
  kept: object
}

/** Why the form cannot hold the job; `null` where it can. */
export function whyNotEdited({ source, entrypoint }: JobRecord): string | null {
  if (!['inline', 'script', 'circuit'].includes(source.kind)) return 'This job was not submitted as one program.'
  if (entrypoint !== null) return `This job calls ${entrypoint} with arguments, which the form for a job does not have.`
  return null
}

/** @param program the source of the job. */
export function againOf({ record, params }: ReadJob, program: string): Again {
  const { shots, seed, ...others } = parse(params) as { shots?: unknown; seed?: unknown }
  const { source, framework, backend, name, execution_mode, max_cost_usd, labels, timeout_seconds } = record
  const isShown = params.length <= SHOWN_CHARACTERS
  const format = source.format ?? ''
  return {
    start: {
      ...emptyForm,
      program,
      format,
      // A circuit has a format in its place.
      framework: format === '' ? (framework ?? '') : '',
      backend,
      shots: textOf(shots),
      seed: textOf(seed),
      name: name ?? '',
      mode: execution_mode,
      maxCost: textOf(max_cost_usd),
      labels: labels.join('\n'),
      timeout: textOf(timeout_seconds),
      params: isShown && Object.keys(others).length > 0 ? (stringify(others, null, 2) ?? '') : ''
    },
    kept: isShown ? {} : others
  }
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))
