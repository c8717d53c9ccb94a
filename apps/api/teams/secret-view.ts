// A stored credential of a provider as its team sees it: its name and state, never its value.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Membership } from '../../../db/teams/memberships.js'
import type { SecretItem } from '../../../db/teams/secrets.js'
import {
  type CredentialProvider,
  credentialProviders,
  credentialStates
} from '../../../domain/backends/provider-credentials.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { nullable, text, time, uuid } from '../http/response.js'
import { SecretActions, secretActions } from './can/team-actions.js'

const MASK = '********'

export const Secret = Type.Object(
  {
    id: uuid,
    team_id: uuid,
    provider: oneOf(credentialProviders),
    key_name: text,
    masked_value: Type.String({ description: 'The same for every value' }),
    status: oneOf(['active', 'invalid']),
    validation_status: oneOf(credentialStates),
    validated_at: nullable(time),
    created_at: time,
    updated_at: time,
    can: SecretActions
  },
  { $id: 'Secret' }
)

export const secretView = (request: FastifyRequest, team: Membership, item: SecretItem): Static<typeof Secret> => ({
  id: item.id,
  team_id: item.teamId,
  provider: item.provider as CredentialProvider,
  key_name: item.keyName,
  masked_value: MASK,
  status: item.validationStatus === 'invalid' ? 'invalid' : 'active',
  validation_status: item.validationStatus,
  validated_at: item.validatedAt?.toISOString() ?? null,
  created_at: item.createdAt.toISOString(),
  updated_at: item.updatedAt.toISOString(),
  can: secretActions(request, team)
})
