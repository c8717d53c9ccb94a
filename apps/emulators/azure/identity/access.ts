// Who sends a request to Resource Manager or to a workspace, and whether it may.
import { AzureError } from '../replies.js'
import { type Identities, type Identity, same, type Workspace, workspaces } from './identities.js'
import { type Audience, readToken } from './tokens.js'

const keyHeader = 'x-ms-quantum-api-key'

/** @throws AzureError (401) */
export function callerOf(
  headers: Record<string, string | string[] | undefined>,
  audience: Audience,
  identities: Identities,
  now: number
): Identity {
  const key = headers[keyHeader]
  if (typeof key === 'string' && audience === 'https://quantum.microsoft.com') {
    const identity = identities.withKey(key)
    if (identity?.active) return identity
    throw new AzureError(401, 'Unauthorized', 'The API key is not valid for any workspace.')
  }
  const [, token] = /^Bearer (\S+)$/i.exec(String(headers.authorization ?? '')) ?? []
  if (token === undefined)
    throw new AzureError(401, 'AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing.")
  const claims = readToken(token)
  const identity = claims && identities.get(claims.identity)
  if (!claims || !identity?.active)
    throw new AzureError(401, 'InvalidAuthenticationToken', 'The access token is invalid.')
  if (now >= claims.expiresAt) throw expiredToken()
  if (claims.audience !== audience)
    throw new AzureError(
      401,
      'InvalidAuthenticationTokenAudience',
      `The access token has been obtained for wrong audience or resource '${claims.audience}'. It should exactly match '${audience}'.`
    )
  return identity
}

export const expiredToken = (): AzureError =>
  new AzureError(
    401,
    'ExpiredAuthenticationToken',
    'The access token expiry UTC time is earlier than current UTC time. Get a new token.'
  )

/** @throws AzureError (403 or 404) */
export function workspaceOf(
  { subscription, group, name }: { subscription: string; group: string; name: string },
  caller: Identity
): Workspace {
  const found = workspaces.find(
    (one) => same(one.subscription, subscription) && same(one.resourceGroup, group) && same(one.name, name)
  )
  const { workspace, hasRole } = caller
  if (found === workspace && hasRole) return found
  if (!found && hasRole && same(workspace.subscription, subscription))
    throw new AzureError(
      404,
      'ResourceNotFound',
      `The Resource 'Microsoft.Quantum/workspaces/${name}' under resource group '${group}' was not found.`
    )
  throw new AzureError(
    403,
    'AuthorizationFailed',
    `The caller does not have authorization over scope '/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Quantum/workspaces/${name}'.`
  )
}
