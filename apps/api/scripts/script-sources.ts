// Saving and changing scripts: POST /api/scripts, /api/scripts/upload, PATCH /api/scripts/:id. The execution service reads a
// source first, outside any transaction; it never runs it.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { loadJob, loadSource } from '../../../db/jobs/jobs.js'
import { changeScript, createScript } from '../../../db/scripts/script-changes.js'
import { loadContent, type ScriptHead } from '../../../db/scripts/scripts.js'
import { ServiceError } from '../../../domain/errors.js'
import { type Framework, frameworkNamed, frameworkNames } from '../../../domain/jobs/framework.js'
import { assertCompleted, assertInlineCode, assertSubmitter } from '../../../domain/jobs/job-actions.js'
import { oneOf } from '../../../domain/json/one-of.js'
import {
  assertFramework,
  assertSource,
  CATEGORY_OF_USERS,
  REQUIREMENTS_MAX,
  SCRIPT_BYTES_MAX,
  SCRIPT_NAME_MAX,
  type ScriptType,
  SLUG_MAX,
  scriptTypes
} from '../../../domain/scripts/script.js'
import type { ApiDeps } from '../deps.js'
import { actorOf, callerOf, ownerForWrite, teamForWrite, userOf } from '../http/access.js'
import { PROGRAM_BODY_MAX } from '../http/body/body-limits.js'
import { json, sent, uuid } from '../http/response.js'
import { assertNotSuspended } from '../http/team-access.js'
import { assertMayChange, lockOwnScript, requestedHead } from './script-access.js'
import type { ScriptReader } from './script-reader.js'
import { type ReadScript, readErrors, warningText, warningView } from './script-reader.js'
import { loadScriptView } from './script-record.js'
import { ChangedScript, SavedScript } from './script-view.js'

const ScriptId = Type.Object({ id: Type.String({ format: 'uuid' }) })
const Name = Type.String({ minLength: 1, maxLength: SCRIPT_NAME_MAX, pattern: '\\S' })
const Source = Type.String({ minLength: 1, maxLength: SCRIPT_BYTES_MAX, description: 'At most 1 MiB as UTF-8' })
const Requirements = Type.String({
  maxLength: REQUIREMENTS_MAX,
  description:
    'As in a requirements.txt: names and versions. They are compared with what is installed; nothing is fetched.'
})

const FromJobBody = Type.Object(
  {
    job_id: Type.String({ format: 'uuid' }),
    name: Name,
    description: Type.String({ minLength: 1, maxLength: 2_000 }),
    slug: Type.String({ maxLength: SLUG_MAX, pattern: '^[a-z0-9-]+$' })
  },
  { additionalProperties: false }
)

const UploadBody = Type.Object(
  {
    name: Name,
    script_content: Source,
    description: Type.String({ maxLength: 1_000, default: '' }),
    requirements: Type.Optional(Type.Union([Requirements, Type.Null()])),
    script_type: Type.Optional(oneOf(scriptTypes, 'Detected from the decorators when it is left out')),
    team_id: Type.Optional(Type.String({ format: 'uuid' }))
  },
  { additionalProperties: false }
)

const ChangeBody = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Type.String({ maxLength: 2_000 })),
    script_content: Type.Optional(Source),
    requirements: Type.Optional(Type.Union([Requirements, Type.Null()])),
    framework: Type.Optional(oneOf(frameworkNames)),
    unchanged_since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'The updated_at that you have read: 409 conflict where the script has changed since'
      })
    )
  },
  { additionalProperties: false, minProperties: 1 }
)

export const scriptSourceRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; reader: ScriptReader }> = async (
  app,
  { deps, reader }
) => {
  const { db } = deps

  app.post(
    '/api/scripts',
    {
      schema: {
        tags: ['scripts'],
        summary: 'Save the code of a completed job of yours as a script of its team',
        body: FromJobBody,
        response: { 201: json('The script is saved', Type.Object({ script_id: uuid })) },
        errors: ['not_found', 'slug_conflict', 'conflict', 'storage_limit_exceeded', 'rate_limited', ...readErrors]
      }
    },
    async (request, reply) => {
      const { job_id, name, description, slug } = request.body
      const job = await loadJob(db, callerOf(request), job_id)
      if (!job) throw new ServiceError('not_found', 'job_id: no such job')
      assertSubmitter(job, userOf(request).id)
      await assertNotSuspended(request, db, job.teamId)
      const source = await loadSource(db, job.id)
      assertInlineCode(source.kind)
      assertCompleted(job.status)
      const read = await reader.read(request, {
        content: source.text,
        requirements: null,
        teamId: job.teamId,
        proven: true
      })
      if (!read) return sent(reply.hijack())
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await ownerForWrite(request, tx, job.teamId, 'job')
        const row = await createScript(
          tx,
          {
            ...newScript(request, teamId, read, source.text),
            name,
            description,
            // The framework that the job ran under.
            framework: source.framework === 'auto' ? read.framework : (source.framework as Framework)
          },
          slug
        )
        return { status: 201, body: { script_id: row.id } }
      })
    }
  )

  app.post(
    '/api/scripts/upload',
    {
      bodyLimit: PROGRAM_BODY_MAX,
      schema: {
        tags: ['scripts'],
        summary: 'Save a script',
        description:
          'It is read, not run. 400: it cannot be; the message names line and column. Warnings do not keep it from being saved.',
        body: UploadBody,
        response: { 200: json('The script is saved', SavedScript) },
        errors: ['slug_conflict', 'conflict', 'storage_limit_exceeded', ...readErrors]
      }
    },
    async (request, reply) => {
      const { name, description, script_content: content, script_type: declared, team_id } = request.body
      const requirements = request.body.requirements || null
      assertSource('script_content', content)
      if (team_id !== undefined || actorOf(request).key) await assertNotSuspended(request, db, team_id)
      const read = await reader.read(request, { content, requirements, teamId: team_id ?? null })
      if (!read) return sent(reply.hijack())
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, team_id ?? null)
        const script = newScript(request, teamId, read, content)
        const scriptType = declared ?? read.scriptType
        const row = await createScript(tx, { ...script, name, description, requirements, scriptType }, null)
        const saved: Static<typeof SavedScript> = {
          script_id: row.id,
          slug: row.slug,
          name: row.name,
          script_type: row.scriptType,
          status: 'validated',
          validation_warnings: [...read.warnings.map(warningText), ...typeWarnings(declared, read)],
          warnings: [
            ...read.warnings.map(warningView),
            ...typeWarnings(declared, read).map((message) => ({ field: 'script_type' as const, message, line: null }))
          ],
          metadata: row.metadata
        }
        return { body: saved }
      })
    }
  )

  app.patch(
    '/api/scripts/:id',
    {
      bodyLimit: PROGRAM_BODY_MAX,
      schema: {
        tags: ['scripts'],
        summary: 'Change a script of yours that is not published',
        description: 'What changes what a job would run (source, requirements, framework) makes a new version.',
        params: ScriptId,
        body: ChangeBody,
        response: { 200: json('The changed script', ChangedScript) },
        errors: ['conflict', 'storage_limit_exceeded', 'rate_limited', ...readErrors]
      }
    },
    async (request, reply) => {
      const { name, description, script_content: content, requirements: wanted, unchanged_since } = request.body
      const framework = request.body.framework && frameworkNamed(request.body.framework)
      const before = await requestedHead(db, request)
      await assertMayChange(request, db, before)
      if (content !== undefined) assertSource('script_content', content)
      const requirements = wanted === undefined ? undefined : wanted || null
      const isRead = content !== undefined || typeof requirements === 'string'
      const read = isRead
        ? await reader.read(request, {
            content: content ?? (await loadContent(db, before.id)),
            requirements: requirements === undefined ? before.requirements : requirements,
            teamId: before.teamId
          })
        : undefined
      if (read === null) return sent(reply.hijack())
      return app.writeOnce(request, reply, async ({ tx }) => {
        const row = await lockOwnScript(request, tx, before)
        if (unchanged_since !== undefined) assertUnchanged(row, unchanged_since)
        const source = content === undefined || !read ? undefined : { content, metadata: read.metadata }
        const detected = (source?.metadata ?? row.metadata).framework
        if (framework !== undefined) assertFramework(framework, detected)
        const changed = await changeScript(
          tx,
          row,
          {
            ...(name !== undefined && { name }),
            ...(description !== undefined && { description }),
            ...(requirements !== undefined && { requirements }),
            ...(source && { source }),
            framework: framework ?? (source && read ? read.framework : (row.framework as Framework))
          },
          userOf(request).id
        )
        const view = await loadScriptView(tx, request, changed, content ?? (await loadContent(tx, row.id)))
        const warnings = read?.warnings ?? []
        return {
          body: { ...view, validation_warnings: warnings.map(warningText), warnings: warnings.map(warningView) }
        }
      })
    }
  )
}

const newScript = (request: FastifyRequest, teamId: string, read: ReadScript, content: string) => ({
  teamId,
  userId: userOf(request).id,
  scriptType: read.scriptType,
  category: CATEGORY_OF_USERS,
  framework: read.framework,
  content,
  requirements: null,
  metadata: read.metadata
})

/** @throws ServiceError `conflict`. */
function assertUnchanged({ updatedAt, version }: ScriptHead, since: string): void {
  if (updatedAt.getTime() === new Date(since).getTime()) return
  throw new ServiceError(
    'conflict',
    `unchanged_since: this script has been changed since you read it (it has version ${version} of ${updatedAt.toISOString()}); read it again and repeat your change`
  )
}

/** The owner chooses the type; a type that does not match the code gives a warning. */
function typeWarnings(declared: ScriptType | undefined, { metadata: { functions } }: ReadScript): string[] {
  if (!declared || declared === 'script') return []
  if (functions.some((one) => (declared === 'task' ? one.is_task : one.is_workflow))) return []
  return [`script_type: declared as ${declared}, but no function is decorated with @${declared}`]
}
