// The quantum providers that this version can talk to: one row each, and the only place that names them all
// (docs/extending/adding-a-provider.md). services/providers/providers.ts adds to each row the adapter that makes its calls.
import type { CredentialProvider } from './provider-credentials.js'

export interface QuantumProvider {
  /** The `provider` of its backends in the catalogue. */
  name: string
  /** The name of its credentials in a team's secrets, and of its emulator. */
  credentials: CredentialProvider
  /** The environment variable that replaces the address of its service, such as by that of its emulator. */
  urlVariable: string
  /** The form that the executor compiles its circuits to. */
  compileTarget: 'ionq' | 'braket' | 'ibm' | 'qasm2' | 'quil' | 'qir'
}

export const quantumProviders = [
  { name: 'IonQ', credentials: 'ionq', urlVariable: 'IONQ_API_URL', compileTarget: 'ionq' }
] as const satisfies readonly QuantumProvider[]

export type ProviderName = (typeof quantumProviders)[number]['name']

/** Addresses by the name of the credentials; a provider that is not named is called at its own address. */
export type ProviderUrls = { [key in (typeof quantumProviders)[number]['credentials']]?: string | undefined }

export const readProviderUrls = (env: Record<string, string | undefined>): ProviderUrls =>
  Object.fromEntries(
    quantumProviders.map(({ credentials, urlVariable }) => [credentials, env[urlVariable] || undefined])
  )

/** The credentials that a team needs, by the name of the provider. */
export const credentialsOfProvider: Readonly<Record<string, CredentialProvider>> = Object.fromEntries(
  quantumProviders.map(({ name, credentials }) => [name, credentials])
)
