// What a record says about an action: `true`, or the words with which a request would be refused now. The words come from the
// functions that refuse.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Membership } from '../../../db/teams/memberships.js'
import { assertRole } from '../../../db/teams/teams.js'
import { codeOf } from '../../../domain/errors.js'
import { assertMayCall } from './access.js'
import { accessTable, type RouteLine } from './access-table.js'
import { text } from './response.js'
import { assertActive } from './team-access.js'

export const Verdict = Type.Union([Type.Literal(true), text])
export type Verdict = true | string

/** A fault of the service is rethrown. */
export function verdict(assert: () => void): Verdict {
  try {
    assert()
    return true
  } catch (error) {
    return wordsOf(error)
  }
}

/** The same, for conditions that are read from the database. */
export async function verdictLater(assert: () => Promise<void>): Promise<Verdict> {
  try {
    await assert()
    return true
  } catch (error) {
    return wordsOf(error)
  }
}

function wordsOf(error: unknown): string {
  if (codeOf(error) === null) throw error
  return (error as Error).message
}

/** Whether the caller can use a route in a team: by key, role and suspension, then by what the action itself asserts. */
export const mayIn =
  (request: FastifyRequest, team: Membership) =>
  (line: RouteLine, ...asserts: (() => void)[]): Verdict =>
    verdict(() => {
      const access = accessTable[line]!
      assertMayCall(request, access)
      assertRole(team.role, access.role ?? 'member')
      if (access.write) assertActive(team)
      for (const assert of asserts) assert()
    })
