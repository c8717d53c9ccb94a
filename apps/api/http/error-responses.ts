// The bodies of refusals (errors.ts), and which of them a route can give.
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

/** A refusal may carry figures of its own in addition. */
const errorBody = (name: string, own: typeof figures | Record<string, never>) =>
  Type.Union(
    [
      Type.Object(
        { error: text, code: Type.Optional(text), ...own },
        { title: 'for a session', additionalProperties: true }
      ),
      Type.Object(
        {
          error: Type.Object(
            {
              code: oneOf(errorCodes),
              message: text,
              status: Type.Integer({ minimum: 400, maximum: 599 }),
              ...own
            },
            { additionalProperties: true }
          )
        },
        { title: 'for a request with an Authorization header' }
      )
    ],
    { $id: name }
  )

export const ErrorBody = errorBody('Error', {})
export const BudgetErrorBody = errorBody('BudgetError', figures)

/** What a request can be, as far as its refusals follow from it. */
export interface RequestShape {
  /** Of the access table. */
  line: string
  access: Access
  /** Whether path, query or body may name a team. */
  namesTeam: boolean
}

/** The codes that follow from how a route is asked and from its line in the access table, in the order of the catalogue. */
export function codesOf({ line, access, namesTeam }: RequestShape, own: readonly ErrorCode[]): ErrorCode[] {
  const { who, role, tier = 'read', write, limit } = access
  // An unsafe method carries a body, and must not come from a page of another site.
  const unsafe = !line.startsWith('GET ')
  const keyed = honoursKey(line, access)
  const given: Partial<Record<ErrorCode, boolean>> = {
    unauthorized: who !== 'anybody',
    permission_denied: unsafe || who === 'session' || tier !== 'read' || (role !== undefined && role !== 'member'),
    team_suspended: write,
    not_found: line.includes(':') || who === 'platform admin' || (role !== undefined && namesTeam),
    // Even an address can hold what no text may hold.
    validation_error: true,
    payload_too_large: unsafe,
    unsupported_media_type: unsafe,
    idempotency_conflict: keyed,
    request_under_way: keyed,
    rate_limited: limit !== undefined,
    internal_error: true
  }
  return errorCodes.filter((code) => given[code] || own.includes(code))
}
