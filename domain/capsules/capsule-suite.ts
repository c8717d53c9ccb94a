// The tasks of a capsule as one suite: the order in which they start, and how the result of one becomes a parameter of
// another. `{ "$result": "<task>", "path"?: "/counts" }` is replaced by the value at the path, a JSON pointer (RFC
// 6901), or by the whole result. Values are copied as text: a number in them can be larger than a JavaScript number can
// hold.
import { type ServiceError, validationError } from '../errors.js'
import { DEPTH_MAX } from '../json/json-guard.js'
import { jsonAt, jsonDepth, jsonFields, jsonItems, jsonObject, jsonSize } from '../json/json-text.js'

/** The fields of a task that decide its place in the order. */
export interface SuiteTask {
  name: string
  parameters: Readonly<Record<string, unknown>>
}

export interface ResultReference {
  task: string
  /** A JSON pointer; '' is the whole result. */
  path: string
}

/** The largest parameters of a task with all results filled in, in bytes of UTF-8: the limit of a submission. */
export const FILLED_PARAMETERS_MAX = 4 * 1024 * 1024

/** The price of a job depends on these, so they must be known before anything runs. */
const PRICED_BY = /\]\.parameters\.(shots|circuit_count|points(\[\d+\](\.shots)?)?)$/

/**
 * Refuses tasks that could not all run: two with one name, a reference to a missing task, a circle.
 * @throws ServiceError `validation_error` naming task and place.
 */
export function assertSuite(tasks: readonly SuiteTask[]): void {
  orderOf(tasks)
}

/**
 * Returns the positions of the tasks in starting order: the order of the list, but each task after those whose results
 * it takes.
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
      throw invalidTask(place, 'parameters', 'a result can replace the value of one parameter, not all parameters')
    return [...referencesIn(parameters, `tasks[${place}].parameters`)].map(({ where, reference }) => {
      const needed = places.get(reference.task)
      if (needed === undefined)
        throw validationError(
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

/** The names of the tasks whose results the parameters reference. */
export const tasksNeededBy = (parameters: SuiteTask['parameters']): Set<string> =>
  new Set([...referencesIn(parameters, 'parameters')].map(({ reference }) => reference.task))

/** The parameters without references, which can be validated before anything runs. */
export const knownParameters = (parameters: SuiteTask['parameters']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => referencesIn(value, '').next().done))

/**
 * Replaces every reference in the parameters by the value that it names. Both texts are JSON.
 * @param resultOf the stored result (JSON text) of a completed task.
 * @throws ServiceError `validation_error` when a path does not exist, or the text becomes too large or too deep.
 */
export function fillReferences(parameters: string, resultOf: (task: string) => string): string {
  const filled = write(parameters.trim(), 'parameters')
  const size = jsonSize(filled)
  if (size > FILLED_PARAMETERS_MAX)
    throw validationError(
      `parameters: with the results of other tasks filled in, they have ${size} bytes, and the limit is ${FILLED_PARAMETERS_MAX}; select the needed part with "path"`
    )
  if (jsonDepth(filled) > DEPTH_MAX)
    throw validationError(
      `parameters: with the results of other tasks filled in, they are nested deeper than ${DEPTH_MAX} levels`
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
    throw validationError(
      `${where}: the result of task ${JSON.stringify(task)} has no value at ${JSON.stringify(path)}`
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
    if (PRICED_BY.test(where))
      throw validationError(`${where}: the price depends on it, so it cannot be the result of a task`)
    yield { where, reference }
  } else if (Array.isArray(value))
    for (const [place, item] of value.entries()) yield* referencesIn(item, `${where}[${place}]`)
  else if (typeof value === 'object' && value !== null)
    for (const [name, child] of Object.entries(value)) yield* referencesIn(child, `${where}.${name}`)
}

/**
 * Returns the reference that a value is, or `null` for any other value.
 * @throws ServiceError for a malformed reference.
 */
function readReference(value: unknown, where: string): ResultReference | null {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, '$result')) return null
  const { $result: task, path = '', ...others } = value as Record<string, unknown>
  const wrong = (what: string) => validationError(`${where}: ${what}`)
  if (typeof task !== 'string') throw wrong('$result must be the name of a task')
  const [other] = Object.keys(others)
  if (other !== undefined) throw wrong(`next to $result only "path" is allowed (got ${JSON.stringify(other)})`)
  if (typeof path !== 'string' || !/^(\/([^~]|~[01])*)?$/su.test(path))
    throw wrong('path must be a JSON pointer such as /counts (RFC 6901)')
  return { task, path }
}

function circle(tasks: readonly SuiteTask[], needs: number[][], waiting: Set<number>): ServiceError {
  // Each waiting task needs another waiting task, so following the needs leads back to a visited one.
  const path: number[] = []
  let at = [...waiting][0]!
  while (!path.includes(at)) {
    path.push(at)
    at = needs[at]!.find((needed) => waiting.has(needed))!
  }
  const names = [...path.slice(path.indexOf(at)), at].map((place) => tasks[place]!.name)
  return invalidTask(at, 'parameters', `tasks take each other's results in a circle: ${names.join(' needs ')}`)
}

const invalidTask = (place: number, field: string, what: string) => validationError(`tasks[${place}].${field}: ${what}`)
