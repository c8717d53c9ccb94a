// GET /jobs: filters, and pages by limit and offset.
import { notValid } from './errors.js'
import type { Job } from './job.js'
import { jobView } from './job-views.js'
import type { IbmParts } from './parts.js'

export type Query = Record<string, string | string[] | undefined>

const pageMax = 200
const filters = [
  'limit', 'offset', 'pending', 'program', 'backend', 'created_after', 'created_before', 'sort', 'tags', 'session_id',
  'exclude_params'
] // biome-ignore format: a list of words

/** @throws IbmError (400) for a wrong filter. */
export function listJobs(query: Query, instance: string, { jobs }: IbmParts): Record<string, unknown> {
  const stray = Object.keys(query).find((key) => !filters.includes(key))
  if (stray !== undefined) throw notValid(`${stray}: is not a filter; the filters are ${filters.join(', ')}.`)
  const [after, before] = [timeOf(query, 'created_after'), timeOf(query, 'created_before')]
  const [isPending, noParams] = [flagOf(query, 'pending'), flagOf(query, 'exclude_params')]
  const tags = [query.tags ?? []].flat()
  const sort = textOf(query, 'sort') ?? 'DESC'
  if (sort !== 'ASC' && sort !== 'DESC') throw notValid(`sort: must be ASC or DESC (got ${sort}).`)
  const [program, backend, session] = ['program', 'backend', 'session_id'].map((key) => textOf(query, key))
  const found = jobs
    .list(instance)
    .filter(
      (job: Job) =>
        (program === undefined || job.body.program_id === program) &&
        (backend === undefined || job.device === backend) &&
        session === undefined &&
        (after === null || job.submittedAt >= after) &&
        (before === null || job.submittedAt <= before) &&
        (isPending === null || jobs.isFinal(job) !== isPending) &&
        tags.every((tag) => job.tags.includes(tag))
    )
  if (sort === 'DESC') found.reverse()
  const limit = numberOf(query, 'limit', { min: 1, max: pageMax, otherwise: pageMax })
  const offset = numberOf(query, 'offset', { min: 0, max: 2 ** 31 - 1, otherwise: 0 })
  return {
    jobs: found.slice(offset, offset + limit).map((job) => jobView(job, jobs, !(noParams ?? true))),
    count: found.length,
    limit,
    offset
  }
}

const textOf = (query: Query, key: string): string | undefined => [query[key] ?? []].flat()[0]

export function flagOf(query: Query, key: string): boolean | null {
  const text = textOf(query, key)?.toLowerCase()
  if (text === undefined) return null
  if (text !== 'true' && text !== 'false') throw notValid(`${key}: must be true or false (got ${text.slice(0, 20)}).`)
  return text === 'true'
}

function timeOf(query: Query, key: string): number | null {
  const text = textOf(query, key)
  if (text === undefined) return null
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw notValid(`${key}: must be a time such as 2026-01-31T00:00:00Z.`)
  return time
}

/** As at IBM, a value out of range is no error. */
function numberOf(
  query: Query,
  key: string,
  { min, max, otherwise }: { min: number; max: number; otherwise: number }
): number {
  const value = Number(textOf(query, key) ?? Number.NaN)
  return Number.isInteger(value) && value >= min && value <= max ? value : otherwise
}
