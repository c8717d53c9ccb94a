// Saved scripts: /api/scripts. Saving and changing them is in script-sources.ts.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { deleteScript, publishScript } from '../../../db/scripts/script-changes.js'
import { listScripts, loadContent } from '../../../db/scripts/scripts.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { pageView, TOTAL_MAX } from '../../../domain/json/page.js'
import { scriptKinds, scriptTypes } from '../../../domain/scripts/script.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, readTeam } from '../http/access.js'
import { done, json, pageEnd, success } from '../http/response.js'
import { lockOwnScript, requestedHead, requestedScript } from './script-access.js'
import { scriptAnalysisRoutes } from './script-analyses.js'
import { createScriptReader } from './script-reader.js'
import { loadScriptView } from './script-record.js'
import { scriptSourceRoutes } from './script-sources.js'
import { scriptVersionRoutes } from './script-versions.js'
import { Script, ScriptSummary, scriptItemView } from './script-view.js'

const ScriptId = Type.Object({ id: Type.String({ format: 'uuid' }) })
export const scriptRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps
  const reader = createScriptReader(deps.executor, deps.executorDeadlineMs)
  app.addHook('preClose', async () => reader.close())
  await app.register(scriptAnalysisRoutes, { deps, reader })
  await app.register(scriptSourceRoutes, { deps, reader })
  await app.register(scriptVersionRoutes, { deps })

  app.get(
    '/api/scripts',
    {
      schema: {
        tags: ['scripts'],
        summary: "Your teams' scripts, published ones and templates, newest first",
        description: "executions_count counts the jobs of the caller's teams, of one team up to 10,000.",
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 }),
          script_type: Type.Optional(oneOf(scriptTypes)),
          user_only: Type.Boolean({ default: false, description: 'Only those that you own' }),
          kind: Type.Optional(
            oneOf(
              scriptKinds,
              '`own`: that you own; `team`: of your teams; `public`: that people have published; `template`: of the platform'
            )
          ),
          team_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only scripts of this team' })),
          q: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 200,
              description: 'In the name, the description or the slug, or the beginning of the id'
            })
          )
        }),
        response: {
          200: json(
            'The scripts, without their sources',
            Type.Object({ scripts: Type.Array(ScriptSummary), ...pageEnd })
          )
        }
      }
    },
    async (request) => {
      const { limit, offset, script_type, user_only, kind, team_id, q } = request.query
      if (team_id) await readTeam(request, db, team_id)
      const { rows, total } = await listScripts(db, callerOf(request), {
        limit,
        offset,
        mine: user_only,
        ...(script_type && { type: script_type }),
        ...(kind && { kind }),
        ...(team_id && { teamId: team_id }),
        ...(q && { text: q })
      })
      return { scripts: rows.map(scriptItemView), ...pageView(total, { limit, offset }) }
    }
  )

  app.get(
    '/api/scripts/:id',
    {
      schema: {
        tags: ['scripts'],
        summary: 'A script with its source',
        description: "executions: the last ten jobs of the caller's teams that ran it.",
        params: ScriptId,
        response: { 200: json('The script', Script) }
      }
    },
    async (request) => {
      const { content, ...script } = await requestedScript(db, request)
      return loadScriptView(db, request, script, content)
    }
  )

  app.post(
    '/api/scripts/:id/publish',
    {
      schema: {
        tags: ['scripts'],
        summary: 'Publish a script of yours; it can no longer be changed',
        params: ScriptId,
        response: { 200: json('The published script', Script) }
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        const row = await lockOwnScript(request, tx, await requestedHead(tx, request), 'also published')
        const published = await publishScript(tx, row)
        return { body: await loadScriptView(tx, request, published, await loadContent(tx, row.id)) }
      })
  )

  app.delete(
    '/api/scripts/:id',
    {
      schema: {
        tags: ['scripts'],
        summary: 'Delete a script of yours that is not published',
        description: 'Jobs that ran it stay, and can be run again.',
        params: ScriptId,
        response: { 200: done }
      }
    },
    async (request, reply) =>
      // Loaded inside the write, where a repeated request waits for the first response.
      app.writeOnce(request, reply, async ({ tx }) => {
        const row = await lockOwnScript(request, tx, await requestedHead(tx, request))
        await deleteScript(tx, row.id)
        return { body: success }
      })
  )
}
