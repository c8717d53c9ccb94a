// Credentials of providers: /api/team/secrets. Values are never returned; lists show the same mask for each.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Tx } from '../../../db/client.js'
import { teamsOf } from '../../../db/teams/memberships.js'
import { deleteSecret, listSecrets, listSecretsOf, recordValidation, teamOfSecret } from '../../../db/teams/secrets.js'
import {
  type CredentialProvider,
  type Credentials,
  credentialProviders,
  credentialStates,
  describeNames,
  formatFault,
  missingFault,
  readCredentials
} from '../../../domain/backends/provider-credentials.js'
import { codeOf, ServiceError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import type { KeyRing } from '../../../services/keys/key-ring.js'
import { openCredentials, storeCredentials } from '../../../services/providers/credentials.js'
import { type Verification, verifyCredentials } from '../../../services/providers/verify-credentials.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, ownerForWrite, readTeam, teamForWrite } from '../http/access.js'
import { done, json, success, text, time } from '../http/response.js'
import { Secret, secretView } from './secret-view.js'

const Uuid = Type.String({ format: 'uuid' })
const Provider = oneOf(credentialProviders)
const Secrets = Type.Object({ secrets: Type.Array(Secret) })
// Its names and values are read by the provider's own rules: a validator would repeat what it refuses.
const Values = Type.Record(Type.String(), Type.Unknown(), {
  description: `Name to value, all strings. ${credentialProviders
    .map((provider) => `${provider}: ${describeNames(provider)}`)
    .join('; ')}. The names of environment variables, such as AWS_ACCESS_KEY_ID, are taken too.`
})

export const secretRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/team/secrets',
    {
      schema: {
        tags: ['secrets'],
        summary: 'Provider credentials of your teams, or of one team; every value masked',
        querystring: Type.Object({ team_id: Type.Optional(Uuid) }),
        response: { 200: json('The credentials', Secrets) }
      }
    },
    async (request) => {
      const { team_id } = request.query
      if (team_id === undefined) {
        const caller = callerOf(request)
        const teams = new Map((await teamsOf(db, caller)).map((team) => [team.id, team]))
        const rows = await listSecretsOf(db, caller)
        // A team that the caller left between the two reads is left out.
        return {
          secrets: rows.flatMap((row) => {
            const team = teams.get(row.teamId)
            return team ? [secretView(request, team, row)] : []
          })
        }
      }
      const team = (await readTeam(request, db, team_id))!
      return { secrets: (await listSecrets(db, team.id)).map((row) => secretView(request, team, row)) }
    }
  )

  app.post(
    '/api/team/secrets',
    {
      schema: {
        tags: ['secrets'],
        summary: 'Create or update credentials of a provider (owner and admins)',
        description: 'Names that are left out stay unchanged. The response lists what the team has of this provider.',
        body: Type.Object({ team_id: Uuid, provider: Provider, secrets: Values }, { additionalProperties: false }),
        response: { 201: json('What the team has of this provider', Secrets) },
        errors: ['not_available']
      }
    },
    async (request, reply) => {
      const { team_id, provider, secrets } = request.body
      return app.writeOnce(request, reply, async ({ tx }) => {
        // The id as the database writes it: values are sealed for it.
        const teamId = await teamForWrite(request, tx, team_id)
        const values = readCredentials(provider, secrets)
        await storeCredentials(tx, keyRingOf(deps), { teamId, provider }, values)
        const team = (await readTeam(request, tx, teamId))!
        const stored = await listSecrets(tx, teamId, provider)
        return { status: 201, body: { secrets: stored.map((row) => secretView(request, team, row)) } }
      })
    }
  )

  app.post(
    '/api/team/secrets/test',
    {
      schema: {
        tags: ['secrets'],
        summary: 'Check credentials before they are saved, or the stored ones (owner and admins)',
        description:
          'Checks the format, then queries the provider if this version supports it. Stored values are used for those left out.',
        body: Type.Object(
          { team_id: Uuid, provider: Provider, secrets: Type.Optional(Values) },
          { additionalProperties: false }
        ),
        response: {
          200: json(
            'The result of the check',
            Type.Object({
              valid: Type.Boolean(),
              provider: Provider,
              message: text,
              checked_at: time,
              details: Type.Object(
                {
                  validation_status: oneOf(credentialStates),
                  account: Type.Optional(text),
                  instance: Type.Optional(text),
                  region: Type.Optional(text),
                  bucket: Type.Optional(text),
                  devices: Type.Optional(Type.Array(text)),
                  faults: Type.Optional(
                    Type.Array(text, { description: 'What keeps jobs, or some of them, from running all the same' })
                  )
                },
                { description: 'With valid credentials: what the provider says that they open' }
              )
            })
          )
        },
        errors: ['not_available']
      }
    },
    async (request) => {
      const { team_id, provider, secrets } = request.body
      const readAt = new Date()
      const found = await db.transaction(async (tx) => {
        const teamId = await teamForWrite(request, tx, team_id)
        const given = secrets ? readCredentials(provider, secrets) : {}
        return { teamId, ...(await valuesToTest(request, tx, { teamId, provider }, given)) }
      })
      // Outside the transaction, because a provider may respond slowly.
      const { status, message, details }: Verification = found.fault
        ? { status: 'invalid', message: found.fault }
        : await verifyCredentials(deps.providers, provider, found.values)
      if (!secrets && status !== 'untested' && Object.keys(found.values).length > 0)
        await recordValidation(db, { teamId: found.teamId, provider }, status, readAt)
      return {
        valid: status === 'valid',
        provider,
        message,
        checked_at: deps.now().toISOString(),
        details: { validation_status: status, ...details }
      }
    }
  )

  app.delete(
    '/api/team/secrets/:id',
    {
      schema: {
        tags: ['secrets'],
        summary: 'Delete one value of a provider (owner and admins)',
        params: Type.Object({ id: Uuid }),
        response: { 200: done }
      }
    },
    async (request, reply) => {
      const { id } = request.params
      return app.writeOnce(request, reply, async ({ tx }) => {
        await ownerForWrite(request, tx, await teamOfSecret(tx, id), 'secret')
        if (!(await deleteSecret(tx, id))) throw new ServiceError('not_found', 'no such secret')
        return { body: success }
      })
    }
  )

  /** The stored values, overridden by the given ones, and what is wrong with them; `null` when nothing is. */
  async function valuesToTest(
    request: FastifyRequest,
    tx: Tx,
    { teamId, provider }: { teamId: string; provider: CredentialProvider },
    given: Credentials
  ): Promise<{ values: Credentials; fault: string | null }> {
    try {
      const values = { ...(await openCredentials(tx, keyRingOf(deps), teamId, provider)), ...given }
      const names = Object.keys(values)
      if (names.length === 0)
        return { values, fault: `The team has no ${provider} credentials; set ${describeNames(provider)}` }
      return { values, fault: formatFault(provider, values) ?? missingFault(provider, names) }
    } catch (error) {
      if (codeOf(error) !== 'internal_error') throw error
      request.log.error({ err: error }, 'stored credentials cannot be opened')
      return { values: {}, fault: (error as ServiceError).message }
    }
  }
}

/** @throws ServiceError `not_available` in a development service that was started without keys. */
function keyRingOf({ keyRing }: ApiDeps): KeyRing {
  if (keyRing) return keyRing
  throw new ServiceError(
    'not_available',
    "secrets: this service has no key to seal credentials with; its operator sets SECRETS_KEYS, or starts it with 'npm start', which makes one"
  )
}
