// The directory: where its endpoints are, and tokens for the secret of an application.
import { jsonReply, type ProviderReply } from '../../provider.js'
import { AzureError } from '../replies.js'
import type { Application, Identities } from './identities.js'
import { audiences, issueToken } from './tokens.js'

export interface DirectoryRequest {
  method: string
  path: string
  /** The address that the request was sent to. */
  base: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

export interface Directory {
  identities: Identities
  now: () => number
  /** How long a token that is issued now is valid. */
  tokenMs: () => number
}

/** @throws AzureError */
export function answerDirectory(request: DirectoryRequest, directory: Directory): ProviderReply {
  const { method, path, base } = request
  const discovery = /^\/([^/]+)\/v2\.0\/\.well-known\/openid-configuration$/.exec(path)
  if (method === 'GET' && discovery)
    return jsonReply(200, openIdConfiguration(tenantOf(discovery[1]!, directory), base))
  const tokens = /^\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(path)
  if (method === 'POST' && tokens) return token(tenantOf(tokens[1]!, directory), request, directory)
  throw new AzureError(404, 'invalid_request', `AADSTS90014: This emulator does not know ${method} ${path}.`)
}

function tenantOf(tenant: string, { identities }: Directory): string {
  if (identities.hasTenant(tenant)) return tenant
  throw new AzureError(400, 'invalid_tenant', `AADSTS90002: Tenant '${tenant}' not found.`)
}

const openIdConfiguration = (tenant: string, base: string): Record<string, unknown> => ({
  issuer: `${base}/${tenant}/v2.0`,
  authorization_endpoint: `${base}/${tenant}/oauth2/v2.0/authorize`,
  token_endpoint: `${base}/${tenant}/oauth2/v2.0/token`,
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  response_types_supported: ['code'],
  scopes_supported: ['openid'],
  subject_types_supported: ['pairwise'],
  id_token_signing_alg_values_supported: ['RS256']
})

function token(tenant: string, request: DirectoryRequest, { identities, now, tokenMs }: Directory): ProviderReply {
  if (!/^application\/x-www-form-urlencoded\b/.test(String(request.headers['content-type'] ?? '')))
    throw new AzureError(400, 'invalid_request', "AADSTS900144: The request body must be a form with 'grant_type'.")
  const form = new URLSearchParams(request.body.toString('utf8'))
  if (form.get('grant_type') !== 'client_credentials')
    throw new AzureError(
      400,
      'unsupported_grant_type',
      "AADSTS70003: This emulator issues tokens only for the grant 'client_credentials'."
    )
  const scope = form.get('scope') ?? ''
  const audience = Object.hasOwn(audiences, scope) ? audiences[scope as keyof typeof audiences] : null
  if (!audience)
    throw new AzureError(400, 'invalid_scope', `AADSTS70011: The provided value for scope '${scope}' is not valid.`)
  const { client, secret } = clientOf(form, String(request.headers.authorization ?? ''))
  const secrets = identities.ofApplication(tenant, client)
  if (secrets.length === 0)
    throw new AzureError(
      400,
      'unauthorized_client',
      `AADSTS700016: Application with identifier '${client}' was not found in the directory '${tenant}'.`
    )
  const identity = secrets.find(({ credential }) => (credential as Application).secret === secret)
  if (!identity)
    throw new AzureError(
      401,
      'invalid_client',
      `AADSTS7000215: Invalid client secret provided. Ensure the secret being sent is the client secret value for app '${client}'.`
    )
  if (!identity.active) throw expiredSecret(client)
  const lifetimeMs = tokenMs()
  const seconds = Math.floor(lifetimeMs / 1000)
  return jsonReply(200, {
    token_type: 'Bearer',
    expires_in: seconds,
    ext_expires_in: seconds,
    access_token: issueToken(identity, identity.credential as Application, audience, now(), lifetimeMs)
  })
}

/** The directory takes a client's secret in the form, or in the header of Basic authentication. */
function clientOf(form: URLSearchParams, header: string): { client: string; secret: string } {
  const [, basic] = /^Basic (\S+)$/i.exec(header) ?? []
  if (basic === undefined) return { client: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' }
  const [client = '', secret = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':')
  return { client: decodeURIComponent(client), secret: decodeURIComponent(secret) }
}

export const expiredSecret = (client = 'of the request'): AzureError =>
  new AzureError(
    401,
    'invalid_client',
    `AADSTS7000222: The provided client secret keys for app '${client}' are expired.`
  )
