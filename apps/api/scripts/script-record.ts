// The record of a script as its reader sees it.
import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { DbOrTx } from '../../../db/client.js'
import { countExecutions, lastExecutions, type ScriptHead } from '../../../db/scripts/scripts.js'
import { callerOf } from '../http/access.js'
import { scriptActionsOf } from './script-actions.js'
import { type Script, scriptView } from './script-view.js'

export async function loadScriptView(
  db: DbOrTx,
  request: FastifyRequest,
  script: Omit<ScriptHead, 'contentBytes'>,
  content: string
): Promise<Static<typeof Script>> {
  const caller = callerOf(request)
  const counts = await countExecutions(db, caller, [script.id])
  return scriptView(
    { ...script, content },
    {
      executionsCount: counts.get(script.id) ?? 0,
      executions: await lastExecutions(db, caller, script.id),
      can: await scriptActionsOf(db, request, script)
    }
  )
}
