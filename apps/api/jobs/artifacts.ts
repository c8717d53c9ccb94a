// What a job produced: its result (/api/jobs/:id/result), and the files in addition to it (/api/jobs/:id/artifacts).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { removedOf } from '../../../db/contents/removed-contents.js'
import { findArtifact, listArtifacts } from '../../../db/jobs/artifacts.js'
import { findTaskFile, listTaskFiles } from '../../../db/jobs/task-results.js'
import { ServiceError } from '../../../domain/errors.js'
import { artifactsPath } from '../../../domain/jobs/artifacts-path.js'
import { assertKept, evidenceKinds } from '../../../domain/teams/content-retention.js'
import type { ApiDeps } from '../deps.js'
import { isKnown } from '../http/entity-tag.js'
import { anything, count, empty, json, media, sent, sha256, text } from '../http/response.js'
import { requestedJob, storedResult } from './requested-job.js'

const Artifact = Type.Object(
  {
    name: text,
    sha256,
    size_bytes: count,
    media_type: text,
    url: Type.String({ description: 'Its path, below the address of the service' })
  },
  { $id: 'Artifact' }
)

const JobId = Type.Object({ id: Type.String({ format: 'uuid' }) })
const ArtifactName = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String({ description: 'A name of the list' })
})

export const artifactRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/jobs/:id/artifacts',
    {
      schema: {
        tags: ['jobs'],
        summary: 'The files of a completed job',
        description:
          'Empty until the job has its result, and without what was removed because its time was over. The result itself is part of the record. What each task of a workflow returned is there as its key with .json: JSON, in which a value that JSON cannot hold is pickled, as the Python SDK does it.',
        params: JobId,
        response: { 200: json('The files', Type.Object({ artifacts: Type.Array(Artifact) })) }
      }
    },
    async (request) => {
      const job = await requestedJob(db, request)
      const done = job.resultSha256 !== null
      const found = done ? [...(await listArtifacts(db, job.id)), ...(await listTaskFiles(db, job.id))] : []
      return {
        artifacts: found.map(({ name, sha256, sizeBytes, mediaType }) => ({
          name,
          sha256,
          size_bytes: sizeBytes,
          media_type: mediaType,
          url: artifactsPath(job.id, name)
        }))
      }
    }
  )

  app.get(
    '/api/jobs/:id/result',
    {
      schema: {
        tags: ['jobs'],
        summary: 'The result of a completed job alone, as it is stored',
        description:
          'The JSON text of `result` of the record, byte for byte. The ETag is its SHA-256; with If-None-Match 304 when it is the same.',
        params: JobId,
        response: {
          200: json('The result', anything, ['ETag']),
          304: empty('Unchanged: If-None-Match names its ETag', ['ETag'])
        },
        errors: ['contents_removed', 'service_busy', 'content_store_unavailable']
      }
    },
    async (request, reply) => {
      const job = await requestedJob(db, request)
      const stored = await storedResult(db, job)
      if (!stored) {
        assertKept(await removedOf(db, job.id), ['results'])
        throw new ServiceError('not_found', `this job is ${job.status} and has no result`)
      }
      const whole = reply as FastifyReply
      const tag = `"${job.resultSha256}"`
      whole.header('etag', tag).header('cache-control', 'private, no-cache')
      if (isKnown(request.headers['if-none-match'], tag)) return sent(whole.code(304).send())
      return app.large.sendStored(request, whole.type('application/json; charset=utf-8'), stored)
    }
  )

  app.get(
    '/api/jobs/:id/artifacts/:name',
    {
      schema: {
        tags: ['jobs'],
        summary: 'One file of a completed job',
        description:
          'The bytes with their media type. The ETag is the SHA-256; with If-None-Match 304 when it is the same.',
        params: ArtifactName,
        response: {
          200: media('The bytes, with their own media type', '*/*', ['ETag']),
          304: empty('Unchanged: If-None-Match names its ETag', ['ETag'])
        },
        errors: ['contents_removed', 'service_busy', 'content_store_unavailable']
      }
    },
    async (request, reply) => {
      const job = await requestedJob(db, request)
      const { name } = request.params
      const file =
        job.resultSha256 === null
          ? null
          : ((await findArtifact(db, job.id, name)) ?? (await findTaskFile(db, job.id, name)))
      if (!file) {
        assertKept(await removedOf(db, job.id), evidenceKinds)
        throw new ServiceError('not_found', 'no such artifact; see the list of artifacts of the job')
      }
      const tag = `"${file.sha256}"`
      reply.header('etag', tag).header('cache-control', 'private, no-cache')
      if (isKnown(request.headers['if-none-match'], tag)) return sent(reply.code(304).send())
      reply
        .type(file.mediaType)
        .header('content-disposition', `attachment; filename="${file.name.replace(/[^A-Za-z0-9._-]/g, '_')}"`)
      return app.large.sendStored(request, reply, file.stored)
    }
  )
}
