// GET /api/meta/providers: the credentials of each provider, from the rules that check them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  type CredentialField,
  credentialFields,
  credentialProviders
} from '../../../domain/backends/provider-credentials.js'
import { quantumProviders } from '../../../domain/backends/quantum-providers.js'
import { oneOf } from '../../../domain/json/one-of.js'
import type { ApiDeps } from '../deps.js'
import { json, text } from '../http/response.js'

const CredentialFieldView = Type.Object(
  {
    name: Type.String({ description: 'The name in `secrets` of POST /api/team/secrets' }),
    required: Type.Boolean({ description: 'Without it, nothing of the provider is stored' }),
    expected: Type.String({ description: 'What a value looks like, to follow "must be"' }),
    secret: Type.Boolean({ description: 'The value opens the account; others name a place in it' }),
    together: Type.Array(text, { description: 'Names that have to be stored with it' }),
    needed_for_jobs: Type.Union([text, Type.Null()], {
      description: 'Which jobs need it, such as `jobs need s3_bucket`'
    })
  },
  { $id: 'CredentialField' }
)

const Providers = Type.Object({
  providers: Type.Array(
    Type.Object(
      {
        provider: oneOf(credentialProviders, 'As in POST /api/team/secrets'),
        name: Type.String({ description: 'As `provider` of its backends' }),
        supported: Type.Boolean({ description: 'Whether this service can talk to it: check credentials and run jobs' }),
        credentials: Type.Array(CredentialFieldView)
      },
      { $id: 'CredentialProvider' }
    )
  )
})

export const providerRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/meta/providers',
    {
      schema: {
        tags: ['service'],
        summary: 'The providers of quantum machines, and the credentials that each takes',
        response: { 200: json('The providers', Providers) }
      }
    },
    async () => {
      const supported = new Set([...deps.providers.values()].map(({ credentials }) => credentials))
      return {
        providers: quantumProviders.map(({ name, credentials }) => ({
          provider: credentials,
          name,
          supported: supported.has(credentials),
          credentials: credentialFields(credentials).map(fieldView)
        }))
      }
    }
  )
}

const fieldView = ({ neededForJobs, together, ...field }: CredentialField) => ({
  ...field,
  together: [...together],
  needed_for_jobs: neededForJobs
})
