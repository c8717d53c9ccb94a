// The search attributes that each job's workflow carries. Without them Temporal refuses every start, so a worker checks them
// and creates what is missing where it is allowed to.
import type { Connection } from '@temporalio/client'
import type { SearchAttributes } from '../../domain/jobs/dispatch.js'
import { reasonOf } from '../../domain/operations/reason.js'

const DEADLINE_MS = 5_000
/** Temporal's number for the type Keyword. */
const KEYWORD = 2

/** @returns what an operator has to do, or `null` when all attributes are there. */
export async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  wanted: SearchAttributes
): Promise<string | null> {
  const call = <T>(work: () => Promise<T>) => connection.withDeadline(Date.now() + DEADLINE_MS, work)
  const list = () => call(() => connection.operatorService.listSearchAttributes({ namespace }))
  const { customAttributes: present } = await list()
  const names = Object.values(wanted)
  const wrong = names.filter((name) => present[name] !== undefined && present[name] !== KEYWORD)
  if (wrong.length > 0)
    return `Temporal has ${wrong.join(', ')} in namespace ${namespace} with another type than Keyword: rename them there, or set TEMPORAL_ATTRIBUTE_PREFIX`
  const missing = names.filter((name) => present[name] === undefined)
  if (missing.length === 0) return null
  try {
    const created = Object.fromEntries(missing.map((name) => [name, KEYWORD]))
    await call(() => connection.operatorService.addSearchAttributes({ namespace, searchAttributes: created }))
    return null
  } catch (error) {
    return (
      `Temporal lacks the search attributes ${missing.join(', ')} in namespace ${namespace}, and they could not be created ` +
      `(${reasonOf(error)}): create them with type Keyword (temporal operator search-attribute create)`
    )
  }
}
