// Capsules imported from files: packages, and YAML.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { readPackage } from '../../../../capsule-format/package-reader.js'
import { actorText } from '../../../../db/audit/audit.js'
import { createCapsule } from '../../../../db/capsules/capsule-changes.js'
import { readAuthored } from '../../../../domain/capsules/capsule-authoring.js'
import { CreateCapsuleBody } from '../../../../domain/capsules/capsule-fields.js'
import { codeOf, ServiceError, validationError } from '../../../../domain/errors.js'
import type { ApiDeps } from '../../deps.js'
import { callerOf, teamForWrite, userOf } from '../../http/access.js'
import { PACKAGE_BODY_MAX, YAML_BODY_MAX } from '../../http/body/body-limits.js'
import { IMPORT_BYTES } from '../../http/memory.js'
import { json, text, uuid } from '../../http/response.js'
import type { Fault } from '../../http/validation/validation-faults.js'
import { validationMessages } from '../../http/validation/validation-message.js'
import { createDraft } from '../capsule-draft.js'
import { type FileRoute, readFile, takeFiles } from './capsule-file-body.js'
import { importedCapsule } from './import-capsule.js'
import { readYaml, YAML_BYTES_MAX, type YamlText } from './yaml-text.js'

const packages: FileRoute = {
  types: [
    'application/octet-stream',
    'application/gzip',
    'application/x-gzip',
    'application/zip',
    'application/x-zip-compressed'
  ],
  bytesMax: PACKAGE_BODY_MAX,
  what: 'a package (.capsule archive or RO-Crate zip)'
}

/** With the form around it, a YAML file fits the body of 512 KiB that the specification allows. */
const yaml: FileRoute = {
  types: ['application/yaml', 'text/yaml', 'application/x-yaml'],
  bytesMax: YAML_BODY_MAX,
  what: 'a YAML file'
}

const TeamQuery = Type.Object({
  team_id: Type.Optional(Type.String({ format: 'uuid', description: 'Default: your personal team' }))
})

/** Only documents these routes; capsule-file-body.ts reads their bodies. */
const fileBody = ({ types, what }: FileRoute) => ({
  consumes: ['multipart/form-data', ...types],
  body: Type.Unsafe<unknown>({
    type: 'object',
    description: `The bytes of ${what}, or a form with it as "file" and an optional "team_id".`,
    properties: { file: { type: 'string', format: 'binary' }, team_id: { type: 'string', format: 'uuid' } }
  })
})

export const capsuleImportRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app) => {
  // Each has a scope of its own, because they read bodies of different kinds.
  await app.register(importRoute)
  await app.register(uploadRoute)
}

const importRoute: FastifyPluginAsyncTypebox = async (app) => {
  await takeFiles(app, packages)
  app.post(
    '/api/capsules/import',
    {
      validatorCompiler: acceptAnyBody(app),
      bodyLimit: PACKAGE_BODY_MAX,
      schema: {
        tags: ['capsules'],
        summary: 'Create a draft from a package',
        description:
          'Its digests are computed again; 400 names an entry that does not match. The draft gets the definition; ' +
          'state, owner, seal, costs and times of the package are kept as claims.',
        querystring: TeamQuery,
        ...fileBody(packages),
        response: {
          201: json(
            'The draft is created; warnings list what the draft could not take from the package',
            Type.Object({ capsule_id: uuid, state: Type.Literal('draft'), warnings: Type.Array(text) })
          )
        },
        errors: ['conflict', 'storage_limit_exceeded', 'service_busy']
      }
    },
    async (request, reply) => {
      const { bytes, teamId: formTeam } = await readFile(request, packages)
      // Before the package is inflated.
      const repeated = app.repeatOnce(request, reply)
      if (repeated) return repeated
      await app.large.hold(request, reply, IMPORT_BYTES, 'packages')
      const read = await readPackage(bytes)
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, teamNamed(request.query.team_id, formTeam))
        const { capsule, warnings } = await importedCapsule(tx, callerOf(request), read)
        const id = await createCapsule(
          tx,
          { ...capsule, teamId, ownerId: userOf(request).id, state: 'draft' },
          {
            actor: actorText(callerOf(request)),
            action: 'capsule.imported',
            metadata: { imported: capsule.imported, package: read.kind }
          }
        )
        return { status: 201, body: { capsule_id: id, state: 'draft', warnings } }
      })
    }
  )
}

const uploadRoute: FastifyPluginAsyncTypebox = async (app) => {
  await takeFiles(app, yaml)
  const judge = app.validatorCompiler!({ schema: CreateCapsuleBody, method: 'POST', url: '', httpPart: 'body' })
  app.post(
    '/api/capsules/upload',
    {
      bodyLimit: YAML_BODY_MAX,
      validatorCompiler: acceptAnyBody(app),
      schema: {
        tags: ['capsules'],
        summary: 'Create a draft from a YAML file',
        description: `At most ${YAML_BYTES_MAX / 1024} KiB: the fields of POST /api/capsules/create, or the shorter form with "tasks" at the top. 400 names the line.`,
        querystring: TeamQuery,
        ...fileBody(yaml),
        response: { 201: json('The draft is created', Type.Object({ capsule_id: uuid })) },
        errors: ['conflict', 'storage_limit_exceeded', 'not_found', 'backend_unknown']
      }
    },
    async (request, reply) => {
      const { bytes, teamId: formTeam } = await readFile(request, yaml)
      const repeated = app.repeatOnce(request, reply)
      if (repeated) return repeated
      const file = readYaml(bytes)
      const { body, withLine } = readCreateBody(judge as Judge, file)
      return app.writeOnce(request, reply, async ({ tx }) => {
        const named = teamNamed(request.query.team_id, formTeam) ?? body.team_id ?? null
        const teamId = await teamForWrite(request, tx, named)
        const id = await createDraft(request, tx, teamId, body, file.json).catch((error) => {
          throw withLine(error)
        })
        return { status: 201, body: { capsule_id: id } }
      })
    }
  )
}

/** The query is validated by its schema. The body is not JSON; it is validated where it is read. */
const acceptAnyBody =
  (scope: FastifyInstance): NonNullable<FastifyInstance['validatorCompiler']> =>
  (schema) =>
    schema.httpPart === 'body' ? () => true : scope.validatorCompiler!(schema)

/** @throws ServiceError `validation_error` when form and query name different teams. */
function teamNamed(inQuery: string | undefined, inForm: string | null): string | null {
  if (inQuery !== undefined && inForm !== null && inQuery.toLowerCase() !== inForm.toLowerCase())
    throw validationError('team_id: the form and the query name different teams; send one')
  return inQuery ?? inForm
}

type Judge = ((value: unknown) => boolean) & { errors: Fault[] | null }

/** The capsule that a file describes, checked like the body of `POST /api/capsules/create`; errors name the line. */
function readCreateBody(judge: Judge, text: YamlText): { body: CreateCapsuleBody; withLine(error: unknown): unknown } {
  let placeInFile = (message: string) => message
  const withLine = (error: unknown): unknown => {
    const code = codeOf(error)
    const { message, fields } = error as ServiceError
    // Errors that do not name a place are not about the file's text.
    if (code === null || !/^[a-z_]+[.:[]/.test(message)) return error
    return new ServiceError(code, text.withLine(placeInFile(message)), fields, { cause: error })
  }
  try {
    const authored = readAuthored(text.value as object)
    placeInFile = authored.placeInFile
    if (!judge(authored.fields))
      throw new ServiceError(
        'validation_error',
        judge.errors!.map((fault) => text.withLine(placeInFile(validationMessages([fault], 'file')))).join('; ')
      )
    return { body: authored.fields as CreateCapsuleBody, withLine }
  } catch (error) {
    throw withLine(error)
  }
}
