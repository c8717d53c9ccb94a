// Calls of a team's workspace (data plane of 2026-01-15-preview): JSON both ways, at the address that Azure Resource Manager
// names, or, for a key, which Resource Manager does not take, at the one of the two of its location that knows the workspace.
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault } from '../adapter.js'
import { createProviderHttp, type ProviderCall, type ProviderResponse } from '../http.js'
import { parsed } from '../json-answers.js'
import { TimedCache } from '../timed-cache.js'
import type { CheckAddress } from './addresses.js'
import { managerRefusals, workspaceRefusals } from './azure-faults.js'
import { baseOf, basesOf, knowingBase } from './endpoints.js'
import { type Identity, isPrincipal, nameOf } from './identity.js'

const MANAGER = 'https://management.azure.com'
const MANAGER_VERSION = '2025-12-15-preview'
const VERSION = '2026-01-15-preview'

const CACHED_MAX = 1000
const CACHED_MS = 5 * 60_000

export interface WorkspaceCall {
  method: ProviderCall['method']
  /** Below the workspace. */
  path: string
  query?: Record<string, string>
  json?: unknown
  /** Statuses beyond 200 to 299 that the caller reads itself. */
  answers?: readonly number[]
}

export interface Workspaces {
  /** A request that can be sent twice. */
  call(credentials: Credentials, call: WorkspaceCall, signal: AbortSignal): Promise<ProviderResponse>
  /** Prepares a request, so that nothing but the request is left to do, and it is sent only once. */
  prepare(
    credentials: Credentials,
    call: WorkspaceCall,
    signal: AbortSignal
  ): Promise<(signal: AbortSignal) => Promise<ProviderResponse>>
  close(): Promise<void>
}

/** Azure's names are the same in any case. */
export const accountOf = ({ subscription_id, resource_group, workspace_name }: Credentials): string =>
  `${subscription_id}/${resource_group}/${workspace_name}`.toLowerCase()

/** What a team's credentials open, and how: other ones can open less. */
export const accessNameOf = (credentials: Credentials): string => {
  const { tenant_id, client_id, client_secret, api_key, location } = credentials
  return nameOf(accountOf(credentials), tenant_id, client_id, client_secret, api_key, location)
}

const resourceOf = ({ subscription_id, resource_group, workspace_name }: Credentials): string =>
  `/subscriptions/${encodeURIComponent(subscription_id!)}/resourceGroups/${encodeURIComponent(resource_group!)}` +
  `/providers/Microsoft.Quantum/workspaces/${encodeURIComponent(workspace_name!)}`

/** @param urls replace the addresses of Resource Manager and of every workspace. */
export function createWorkspaces(
  identity: Identity,
  checked: CheckAddress,
  urls: { manager?: string; quantum?: string },
  callTimeoutMs?: number
): Workspaces {
  const manager = createProviderHttp('Azure Resource Manager', managerRefusals, callTimeoutMs)
  const quantum = createProviderHttp('Azure Quantum', workspaceRefusals, callTimeoutMs)
  const bases = new TimedCache<string>(CACHED_MAX, CACHED_MS)
  const replaced = urls.quantum?.replace(/\/$/, '')

  const currentBase = (credentials: Credentials, signal: AbortSignal): Promise<string> =>
    bases.get(accessNameOf(credentials), () =>
      isPrincipal(credentials) ? managedBase(credentials, signal) : locatedBase(credentials, signal)
    )

  async function managedBase(credentials: Credentials, signal: AbortSignal): Promise<string> {
    const url = `${(urls.manager ?? MANAGER).replace(/\/$/, '')}${resourceOf(credentials)}?api-version=${MANAGER_VERSION}`
    const { text } = await identity.call(manager, credentials, 'manager', { method: 'GET', url, signal })
    const { properties } = parsed<{ properties?: { endpointUri?: unknown } | null }>(text) ?? {}
    const named = checked('workspace', properties?.endpointUri)
    return replaced ?? baseOf(named, credentials.workspace_name!)
  }

  async function locatedBase(credentials: Credentials, signal: AbortSignal): Promise<string> {
    if (replaced !== undefined) return replaced
    return knowingBase(basesOf(credentials.location!), (base) => refusalAt(base, credentials, signal))
  }

  /** Why the host does not show the workspace; `null` where it does. */
  async function refusalAt(base: string, credentials: Credentials, signal: AbortSignal): Promise<ProviderFault | null> {
    try {
      const url = urlOf(base, credentials, { path: '/providerStatus' })
      await identity.call(quantum, credentials, 'quantum', { method: 'GET', url, signal })
      return null
    } catch (error) {
      if (!(error instanceof ProviderFault) || error.kind === 'unclear' || error.kind === 'busy') throw error
      return error
    }
  }

  return {
    async call(credentials, { json, ...call }, signal) {
      const { method, answers } = call
      const url = urlOf(await currentBase(credentials, signal), credentials, call)
      const body = json === undefined ? {} : { body: { json } }
      return identity.call(quantum, credentials, 'quantum', { method, url, answers, signal, ...body })
    },

    async prepare(credentials, { json, ...call }, signal) {
      const { method, answers = [] } = call
      const url = urlOf(await currentBase(credentials, signal), credentials, call)
      const { headers, secret } = await identity.proof(credentials, 'quantum', signal)
      const known = isPrincipal(credentials) ? [...answers, 401] : answers
      const request = { method, url, headers, answers: known, secrets: [secret], body: { json } }
      return async (sendSignal) => {
        const response = await quantum.call({ ...request, signal: sendSignal })
        if (response.status !== 401 || answers.includes(401)) {
          identity.served(credentials)
          return response
        }
        throw identity.renew(credentials)
          ? new ProviderFault('busy', 'Azure Quantum returned 401: the token was revoked; the next try gets a new one')
          : new ProviderFault(
              'unauthorized',
              'Azure Quantum returned 401 for a new token, too: the service principal is refused'
            )
      }
    },

    async close() {
      await Promise.all([manager.close(), quantum.close()])
    }
  }
}

function urlOf(
  base: string,
  credentials: Credentials,
  { path, query = {} }: Pick<WorkspaceCall, 'path' | 'query'>
): string {
  const search = new URLSearchParams({ ...query, 'api-version': VERSION })
  return `${base}${resourceOf(credentials)}${path}?${search}`
}
