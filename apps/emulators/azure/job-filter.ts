// The list of jobs: filters in the words of OData, the order, and pages that a client has to ask for one after the other.
import { isoTime } from '../clock.js'
import type { Job } from './job.js'
import type { JobStore } from './jobs.js'
import { AzureError } from './replies.js'

/** Small, so that a client that reads only the first page is found out. */
const pageDefault = 10
const pageMax = 100
/** Longer than a filter by every field. */
const filterLengthMax = 4000
const depthMax = 20

type Matches = (job: Job) => boolean

const invalid = (message: string): AzureError => new AzureError(400, 'InvalidQueryParameter', message)

export interface JobPage {
  jobs: Job[]
  /** Where the next page begins; null after the last one. */
  next: number | null
}

export function pageOfJobs(all: readonly Job[], query: URLSearchParams, jobs: JobStore): JobPage {
  const matches = filterOf(query.get('filter') ?? '', jobs)
  const found = ordered(all.filter(matches), query.get('orderby') ?? 'CreationTime desc')
  const skip = numberOf(query, 'skip', 0, 1_000_000)
  const top = numberOf(query, 'top', pageDefault, pageMax)
  const page = found.slice(skip, skip + top)
  return { jobs: page, next: skip + page.length < found.length ? skip + page.length : null }
}

function numberOf(query: URLSearchParams, name: string, otherwise: number, max: number): number {
  const text = query.get(name)
  if (text === null) return otherwise
  const least = name === 'top' ? 1 : 0
  if (!/^\d{1,7}$/.test(text) || Number(text) < least || Number(text) > max)
    throw invalid(`${name}: must be a whole number from ${least} to ${max} (got ${text.slice(0, 20)})`)
  return Number(text)
}

function ordered(found: readonly Job[], text: string): Job[] {
  const [, field, direction = 'asc'] = /^(CreationTime|Name)(?: (asc|desc))?$/.exec(text) ?? []
  if (field === undefined)
    throw invalid(`orderby: this emulator orders by CreationTime or Name, asc or desc (got ${text})`)
  const sign = direction === 'asc' ? 1 : -1
  const compare = (a: Job, b: Job) =>
    field === 'Name'
      ? a.request.name.localeCompare(b.request.name, 'en')
      : a.submittedAt - b.submittedAt || a.seed - b.seed
  return [...found].sort((a, b) => sign * compare(a, b))
}

/** A condition, or several with `and`, `or` and parentheses. */
function filterOf(text: string, jobs: JobStore): Matches {
  if (text.trim() === '') return () => true
  if (text.length > filterLengthMax) throw invalid(`filter: must have at most ${filterLengthMax} characters`)
  const tokens = tokensOf(text)
  let at = 0
  const take = (word: string): boolean => {
    if (tokens[at] !== word) return false
    at += 1
    return true
  }
  const either = (depth: number): Matches => {
    const parts = [both(depth)]
    while (take('or')) parts.push(both(depth))
    return (job) => parts.some((part) => part(job))
  }
  const both = (depth: number): Matches => {
    const parts = [condition(depth)]
    while (take('and')) parts.push(condition(depth))
    return (job) => parts.every((part) => part(job))
  }
  const condition = (depth: number): Matches => {
    if (depth > depthMax) throw invalid('filter: has too many parentheses')
    if (take('(')) {
      const inner = either(depth + 1)
      if (!take(')')) throw invalid('filter: lacks a )')
      return inner
    }
    if (take('startswith')) {
      const [open, field, comma, value, close] = tokens.slice(at, at + 5)
      if (open !== '(' || comma !== ',' || close !== ')') throw invalid('filter: startswith takes a field and a text')
      at += 5
      const [read, prefix] = [fieldOf(field, jobs), textOf(value)]
      return (job) => read(job).startsWith(prefix)
    }
    const [field, operator, value] = tokens.slice(at, at + 3)
    at += 3
    return comparison(field, operator, value, jobs)
  }
  const matches = either(0)
  if (at !== tokens.length)
    throw invalid(`filter: this emulator does not read it from "${tokens.slice(at).join(' ')}" on`)
  return matches
}

function tokensOf(text: string): string[] {
  const pattern = /\s*('(?:[^']|'')*'|[(),]|[^\s(),']+)\s*/uy
  const tokens: string[] = []
  while (pattern.lastIndex < text.length) {
    const [, token] = pattern.exec(text) ?? []
    if (token === undefined) throw invalid(`filter: this emulator does not read "${text.slice(0, 200)}"`)
    tokens.push(token)
  }
  return tokens
}

function comparison(field: string | undefined, operator = '', value: string | undefined, jobs: JobStore): Matches {
  const read = fieldOf(field, jobs)
  if (field !== 'CreationTime') {
    if (operator !== 'eq') throw invalid(`filter: ${field} takes only eq (got ${operator})`)
    const text = textOf(value)
    return (job) => read(job) === text
  }
  const wanted = Date.parse(value?.replace(/^'(.*)'$/, '$1') ?? '')
  if (Number.isNaN(wanted)) throw invalid(`filter: CreationTime is compared with a time (got ${value})`)
  const outcomes: Record<string, (at: number) => boolean> = {
    eq: (at) => at === wanted,
    ge: (at) => at >= wanted,
    gt: (at) => at > wanted,
    le: (at) => at <= wanted,
    lt: (at) => at < wanted
  }
  const outcome = Object.hasOwn(outcomes, operator) ? outcomes[operator]! : null
  if (!outcome) throw invalid(`filter: CreationTime takes eq, ge, gt, le or lt (got ${operator})`)
  return (job) => outcome(Date.parse(read(job)))
}

function fieldOf(name: string | undefined, jobs: JobStore): (job: Job) => string {
  const fields: Record<string, (job: Job) => string> = {
    Name: ({ request }) => request.name,
    ProviderId: ({ target }) => target.provider,
    Target: ({ target }) => target.id,
    ItemType: () => 'Job',
    JobType: () => 'QuantumComputing',
    State: (job) => jobs.status(job),
    CreationTime: (job) => isoTime(job.submittedAt)
  }
  if (name === undefined || !Object.hasOwn(fields, name))
    throw invalid(`filter: must name one of ${Object.keys(fields).join(', ')} (got ${name ?? 'nothing'})`)
  return fields[name]!
}

function textOf(token: string | undefined): string {
  const [, text] = /^'(.*)'$/s.exec(token ?? '') ?? []
  if (text === undefined) throw invalid(`filter: must have a text in single quotes (got ${token ?? 'nothing'})`)
  return text.replaceAll("''", "'")
}
