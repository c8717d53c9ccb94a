// The bodies of refusals (errors.ts), and the codes that a route can refuse with.
import { Type } from 'typebox'
import { type ErrorCode, errorCodes } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import type { Access } from './access-table.js'
import { honoursKey } from './idempotency.js'
import { text, usd } from './response.js'

const figures = {
  estimated_cost: usd,
  current_spend: usd,
  budget: usd,
  remaining_budget: usd
}

/** A refusal can have additional fields of its own. */
const errorBody = (kind: string, own: typeof figures | Record<string, never>) =>
  Type.Union(
    [
      // A generated client tries the stricter variant first.
      Type.Object(
        {
          error: Type.Object(
            {
              code: oneOf(errorCodes),
              message: text,
              status: Type.Integer({ minimum: 400, maximum: 599 }),
              ...own
            },
            { $id: `${kind}Details`, additionalProperties: true }
          )
        },
        { $id: `Structured${kind}`, description: 'The response to a request with an Authorization header' }
      ),
      Type.Object(
        { error: text, code: Type.Optional(text), ...own },
        { $id: `Session${kind}`, description: 'The response to any other request', additionalProperties: true }
      )
    ],
    { $id: kind }
  )

export const ErrorBody = errorBody('Error', {})
export const BudgetErrorBody = errorBody('BudgetError', figures)

/** The properties of a route that decide which refusals it can give. */
export interface RequestShape {
  /** The route's line in the access table. */
  line: string
  access: Access
  /** Whether path, query or body may name a team. */
  namesTeam: boolean
}

/** The codes that follow from a route's request and its line in the access table, in the order of the catalogue. */
export function codesOf({ line, access, namesTeam }: RequestShape, own: readonly ErrorCode[]): ErrorCode[] {
  const { who, role, tier = 'read', write, limit } = access
  // An unsafe method has a body, and must not come from a page of another site.
  const unsafe = !line.startsWith('GET ')
  const keyed = honoursKey(line, access)
  const given: Partial<Record<ErrorCode, boolean>> = {
    unauthorized: who !== 'public',
    permission_denied: unsafe || who === 'session' || tier !== 'read' || (role !== undefined && role !== 'member'),
    team_suspended: write,
    not_found: line.includes(':') || who === 'platform admin' || (role !== undefined && namesTeam),
    // Even a path can hold characters that no text can hold.
    validation_error: true,
    payload_too_large: unsafe,
    unsupported_media_type: unsafe,
    idempotency_conflict: keyed,
    request_under_way: keyed,
    rate_limited: limit !== undefined,
    database_unavailable: true,
    internal_error: true
  }
  return errorCodes.filter((code) => given[code] || own.includes(code))
}
