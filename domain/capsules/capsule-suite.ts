// The tasks of a capsule as one suite: in which order they start, and how the result of one becomes a parameter of another:
// `{ "$result": "<task>", "path"?: "/counts" }`, the path a JSON pointer (RFC 6901) into it, the whole result without one.
// Values go from result to parameter as text: a number in them may be larger than a JavaScript number can hold.
import { ServiceError, validationError } from '../errors.js'
import { DEPTH_MAX } from '../json/json-guard.js'
import { jsonAt, jsonDepth, jsonFields, jsonItems, jsonObject, jsonSize } from '../json/json-text.js'

/** What of a task decides its place. */
export interface SuiteTask {
  name: string
  parameters: Readonly<Record<string, unknown>>
}

export interface ResultReference {
  task: string
  /** '' is the whole result. */
  path: string
}

/** UTF-8 bytes of a task's parameters with all results in them: as much as a submission may have. */
export const FILLED_PARAMETERS_MAX = 4 * 1024 * 1024

/** What a job is priced by has to be known before anything runs. */
const PRICED_BY = ['shots', 'circuit_count']

/**
 * Refuses tasks that could not all run: two of one name, a result of a task that is not there, a circle.
 * @throws ServiceError `validation_error` naming task and place.
 */
export function assertSuite(tasks: readonly SuiteTask[]): void {
  orderOf(tasks)
}

/**
 * The places of the tasks in the order in which they start: that of the list, but each after those whose results it takes.
 * @throws ServiceError as `assertSuite`.
 */
export function orderOf(tasks: readonly SuiteTask[]): number[] {
  const places = new Map<string, number>()
  for (const [place, { name }] of tasks.entries()) {
    if (places.has(name)) throw invalidTask(place, 'name', `another task is called ${JSON.stringify(name)} already`)
    places.set(name, place)
  }
  const needs = tasks.map(({ parameters }, place) => {
    if (Object.hasOwn(parameters, '$result'))
      throw invalidTask(place, 'parameters', 'a result can be the value of a parameter, not all parameters together')
    return [...referencesIn(parameters, `tasks[${place}].parameters`)].map(({ where, reference }) => {
      const needed = places.get(reference.task)
      if (needed === undefined)
        throw new ServiceError(
          'validation_error',
          `${where}: no task is called ${JSON.stringify(reference.task)}; the tasks are ${[...places.keys()].join(', ')}`
        )
      return needed
    })
  })
  const order: number[] = []
  const waiting = new Set(tasks.keys())
  while (waiting.size > 0) {
    const next = [...waiting].find((place) => needs[place]!.every((needed) => !waiting.has(needed)))
    if (next === undefined) throw circle(tasks, needs, waiting)
    waiting.delete(next)
    order.push(next)
  }
  return order
}

/** The names of the tasks whose results the parameters take. */
export const tasksNeededBy = (parameters: SuiteTask['parameters']): Set<string> =>
  new Set([...referencesIn(parameters, 'parameters')].map(({ reference }) => reference.task))

/** The parameters that hold no reference: what can be judged before anything has run. */
export const knownParameters = (parameters: SuiteTask['parameters']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => referencesIn(value, '').next().done))

/**
 * The parameters with every reference replaced by what it names; both JSON text.
 * @param resultOf the stored result (JSON text) of a task that has completed.
 * @throws ServiceError `validation_error` when a path leads nowhere, or the whole grows too large or too deep.
 */
export function fillReferences(parameters: string, resultOf: (task: string) => string): string {
  const filled = write(parameters.trim(), 'parameters')
  const size = jsonSize(filled)
  if (size > FILLED_PARAMETERS_MAX)
    throw new ServiceError(
      'validation_error',
      `parameters: with the results of other tasks in them they have ${size} bytes, at most ${FILLED_PARAMETERS_MAX} are possible; name the part that is needed with "path"`
    )
  if (jsonDepth(filled) > DEPTH_MAX)
    throw new ServiceError(
      'validation_error',
      `parameters: with the results of other tasks in them they are nested deeper than ${DEPTH_MAX} levels`
    )
  return filled

  function write(text: string, where: string): string {
    if (text.startsWith('['))
      return `[${jsonItems(text)
        .map((item, place) => write(item, `${where}[${place}]`))
        .join(',')}]`
    if (!text.startsWith('{')) return text
    const fields = jsonFields(text)
    if (fields.has('$result')) return read(readReference(JSON.parse(text), where)!, where)
    return jsonObject([...fields].map(([name, value]) => [name, write(value, `${where}.${name}`)] as const))
  }

  function read({ task, path }: ResultReference, where: string): string {
    const found = jsonAt(resultOf(task), path)
    if (found !== null) return found
    throw new ServiceError(
      'validation_error',
      `${where}: the result of task ${JSON.stringify(task)} has nothing at ${JSON.stringify(path)}`
    )
  }
}

interface FoundReference {
  where: string
  reference: ResultReference
}

function* referencesIn(value: unknown, where: string): Generator<FoundReference> {
  const reference = readReference(value, where)
  if (reference) {
    const priced = PRICED_BY.find((name) => where.endsWith(`].parameters.${name}`))
    if (priced) throw new ServiceError('validation_error', `${where}: a price depends on it; it has to be a number`)
    yield { where, reference }
  } else if (Array.isArray(value))
    for (const [place, item] of value.entries()) yield* referencesIn(item, `${where}[${place}]`)
  else if (typeof value === 'object' && value !== null)
    for (const [name, child] of Object.entries(value)) yield* referencesIn(child, `${where}.${name}`)
}

/** The reference that a value is; `null` for any other value. @throws ServiceError for one that is none and looks like one. */
function readReference(value: unknown, where: string): ResultReference | null {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, '$result')) return null
  const { $result: task, path = '', ...others } = value as Record<string, unknown>
  const wrong = (what: string) => validationError(`${where}: ${what}`)
  if (typeof task !== 'string') throw wrong('$result must be the name of a task')
  const [other] = Object.keys(others)
  if (other !== undefined) throw wrong(`beside $result there may be "path" alone (got ${JSON.stringify(other)})`)
  if (typeof path !== 'string' || !/^(\/([^~]|~[01])*)?$/su.test(path))
    throw wrong('path must be a JSON pointer such as /counts (RFC 6901)')
  return { task, path }
}

function circle(tasks: readonly SuiteTask[], needs: number[][], waiting: Set<number>): ServiceError {
  // Whoever waits needs somebody who waits: going on from one to the next leads round.
  const way: number[] = []
  let at = [...waiting][0]!
  while (!way.includes(at)) {
    way.push(at)
    at = needs[at]!.find((needed) => waiting.has(needed))!
  }
  const names = [...way.slice(way.indexOf(at)), at].map((place) => tasks[place]!.name)
  return invalidTask(at, 'parameters', `tasks take each other's results in a circle: ${names.join(' needs ')}`)
}

const invalidTask = (place: number, field: string, what: string) => validationError(`tasks[${place}].${field}: ${what}`)
