// SearchQuantumTasks and SearchDevices: filters, and pages that a client has to ask for one after the other.
import { isoTime } from '../clock.js'
import { AwsError } from './aws/replies.js'
import type { Caller } from './aws/signature.js'
import type { BraketParts } from './parts.js'
import type { Task } from './task.js'
import { deviceSummary, taskSummary } from './task-views.js'

/** Small, so that a client that reads only the first page is found out. */
const pageDefault = 10
const pageMax = 100

const invalid = (message: string): AwsError => new AwsError('ValidationException', message)

interface Filter {
  name: string
  operator: string
  values: string[]
}

export function searchTasks(
  body: Record<string, unknown>,
  caller: Caller,
  parts: BraketParts
): Record<string, unknown> {
  const filters = filtersOf(body)
  const stateOf = (task: Task) => parts.tasks.course(task).state
  const fieldOf: Record<string, (task: Task) => string> = {
    quantumTaskArn: (task) => task.arn,
    deviceArn: (task) => task.device.arn,
    jobArn: () => '',
    status: stateOf,
    createdAt: (task) => isoTime(task.submittedAt)
  }
  for (const { name, operator, values } of filters) {
    if (!Object.hasOwn(fieldOf, name)) throw invalid(`There is no filter ${name}.`)
    if (name !== 'createdAt' && operator !== 'EQUAL') throw invalid(`The filter ${name} takes only the operator EQUAL.`)
    if (name === 'createdAt' && values.some((value) => Number.isNaN(Date.parse(value))))
      throw invalid('The values of createdAt must be times.')
  }
  const found = parts.tasks
    .list(caller)
    .filter((task) => filters.every((filter) => matches(fieldOf[filter.name]!(task), filter)))
  const { page, nextToken } = pageOf(found, body, ({ arn }) => arn)
  return { quantumTasks: page.map((task) => taskSummary(task, parts)), ...(nextToken !== null && { nextToken }) }
}

export function searchDevices(
  body: Record<string, unknown>,
  { region }: Caller,
  parts: BraketParts
): Record<string, unknown> {
  const filters = filtersOf(body, 'EQUAL')
  for (const { name } of filters) if (name !== 'deviceArn') throw invalid(`There is no filter ${name}.`)
  const found = parts.devices.inRegion(region).filter(({ arn }) => filters.every(({ values }) => values.includes(arn)))
  const { page, nextToken } = pageOf(found, body, ({ arn }) => arn)
  return { devices: page.map((device) => deviceSummary(device, parts)), ...(nextToken !== null && { nextToken }) }
}

const operators = ['EQUAL', 'LT', 'LTE', 'GT', 'GTE', 'BETWEEN']

function filtersOf({ filters }: Record<string, unknown>, operatorDefault?: string): Filter[] {
  if (!Array.isArray(filters)) throw invalid('filters: must be a list, which may be empty')
  return filters.map((one: Partial<Filter> | null) => {
    const { name, operator = operatorDefault, values } = one ?? {}
    if (typeof name !== 'string') throw invalid('filters: each needs a name')
    if (!operators.includes(operator!)) throw invalid(`filters: operator must be one of ${operators.join(', ')}`)
    if (!Array.isArray(values) || values.length === 0 || !values.every((value) => typeof value === 'string'))
      throw invalid('filters: values must be a list of texts')
    if (operator === 'BETWEEN' && values.length !== 2) throw invalid('filters: BETWEEN takes two values')
    return { name, operator: operator!, values }
  })
}

function matches(value: string, { name, operator, values }: Filter): boolean {
  if (name !== 'createdAt') return values.includes(value)
  const at = Date.parse(value)
  const [first = 0, second = 0] = values.map((text) => Date.parse(text))
  if (operator === 'EQUAL') return values.some((text) => Date.parse(text) === at)
  if (operator === 'BETWEEN') return at >= first && at <= second
  if (operator === 'LT') return at < first
  if (operator === 'LTE') return at <= first
  return operator === 'GT' ? at > first : at >= first
}

function pageOf<Item>(
  items: readonly Item[],
  { maxResults = pageDefault, nextToken }: Record<string, unknown>,
  idOf: (item: Item) => string
): { page: Item[]; nextToken: string | null } {
  if (!Number.isInteger(maxResults) || Number(maxResults) < 1 || Number(maxResults) > pageMax)
    throw invalid(`maxResults: must be from 1 to ${pageMax}`)
  const after = typeof nextToken === 'string' ? Buffer.from(nextToken, 'base64url').toString('utf8') : null
  const begin = after === null ? 0 : items.findIndex((item) => idOf(item) === after) + 1
  if (after !== null && begin === 0) throw invalid('nextToken: it is not the end of a page')
  const page = items.slice(begin, begin + Number(maxResults))
  const more = begin + page.length < items.length
  return { page, nextToken: more ? Buffer.from(idOf(page.at(-1)!)).toString('base64url') : null }
}
