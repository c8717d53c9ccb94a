// Checks with a provider whether it accepts a team's credentials.
import type { CredentialProvider, CredentialState, Credentials } from '../../domain/backends/provider-credentials.js'
import { type CredentialDetails, type ProviderAdapter, ProviderFault } from './adapter.js'

const TIMEOUT_MS = 10_000

export interface Verification {
  status: CredentialState
  message: string
  /** What the provider says that they open. */
  details?: CredentialDetails
}

export async function verifyCredentials(
  adapters: ReadonlyMap<string, ProviderAdapter>,
  provider: CredentialProvider,
  credentials: Credentials
): Promise<Verification> {
  const adapter = [...adapters.values()].find((one) => one.credentials === provider)
  if (!adapter) return { status: 'untested', message: 'The format is right; this version cannot ask the provider' }
  try {
    const details = await adapter.verify(credentials, AbortSignal.timeout(TIMEOUT_MS))
    return { status: 'valid', message: `${adapter.name} takes these credentials`, details }
  } catch (error) {
    if (error instanceof ProviderFault && error.kind === 'unauthorized')
      return { status: 'invalid', message: `${adapter.name} does not take these credentials (${error.message})` }
    const reason = error instanceof ProviderFault ? error.message : `no answer within ${TIMEOUT_MS / 1000} s`
    return { status: 'unreachable', message: `${adapter.name} could not be reached: ${reason}` }
  }
}
