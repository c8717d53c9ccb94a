// What the caller can do with a script now. Each action asks the functions that refuse it, and repeats their words.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { DbOrTx } from '../../../db/client.js'
import type { ScriptHead } from '../../../db/scripts/scripts.js'
import { assertMayCall } from '../http/access.js'
import { accessTable, type RouteLine } from '../http/access-table.js'
import { Verdict, verdictLater } from '../http/verdict.js'
import { assertMayPublish, assertUnpublished } from './script-access.js'

export const ScriptActions = Type.Object(
  { update: Verdict, publish: Verdict, delete: Verdict },
  {
    $id: 'ScriptActions',
    description:
      '`true`, or the words with which a request would be refused now. Sources and limits of requests are checked later'
  }
)

export async function scriptActionsOf(
  db: DbOrTx,
  request: FastifyRequest,
  script: Pick<ScriptHead, 'teamId' | 'userId' | 'isPublic'>
): Promise<Static<typeof ScriptActions>> {
  const publish = await verdictLater(() => assertMayPublish(request, db, script))
  const change = publish === true ? await verdictLater(async () => assertUnpublished(script)) : publish
  const may = async (line: RouteLine, otherwise: true | string) => {
    const called = await verdictLater(async () => assertMayCall(request, accessTable[line]!))
    return called === true ? otherwise : called
  }
  return {
    update: await may('PATCH /api/scripts/:id', change),
    publish: await may('POST /api/scripts/:id/publish', publish),
    delete: await may('DELETE /api/scripts/:id', change)
  }
}
