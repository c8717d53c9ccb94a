// The quantum providers that this version can talk to: one row each, and the only place that names them all
// (docs/extending/adding-a-provider.md). services/providers/providers.ts adds to each row the adapter that makes its calls.
import type { CredentialProvider } from './provider-credentials.js'

export interface QuantumProvider {
  /** The `provider` of its backends in the catalogue. */
  name: string
  /** The name of its credentials in a team's secrets, and of its emulator. */
  credentials: CredentialProvider
  /**
   * By each service that the adapter calls: the environment variable that replaces its address, such as by that of the
   * emulator. Nothing else of the environment is read.
   */
  urls: Readonly<Record<string, string>>
}

/** The forms that the executor compiles circuits to. */
export type CompileFormat = 'ionq' | 'braket' | 'ahs' | 'ibm' | 'qasm2' | 'quil' | 'qir'

export const quantumProviders = [
  { name: 'IonQ', credentials: 'ionq', urls: { api: 'IONQ_API_URL' } },
  {
    name: 'AWS Braket',
    credentials: 'aws-braket',
    urls: { braket: 'AWS_ENDPOINT_URL_BRAKET', s3: 'AWS_ENDPOINT_URL_S3', sts: 'AWS_ENDPOINT_URL_STS' }
  },
  { name: 'IBM Quantum', credentials: 'ibm-quantum', urls: { api: 'IBM_QUANTUM_API_URL', iam: 'IAM_URL' } },
  {
    name: 'Azure Quantum',
    credentials: 'azure-quantum',
    urls: {
      login: 'AZURE_AUTHORITY_HOST',
      manager: 'AZURE_RESOURCE_MANAGER_URL',
      quantum: 'AZURE_QUANTUM_URL'
    }
  }
] as const satisfies readonly QuantumProvider[]

type Row = (typeof quantumProviders)[number]
export type ProviderName = Row['name']
/** The services of a provider. */
export type ServiceOf<Name extends ProviderName> = keyof Extract<Row, { name: Name }>['urls'] & string

/** Addresses by the name of the credentials and the service; one that is not named is called at its own address. */
export type ProviderUrls = { [R in Row as R['credentials']]?: { [Service in keyof R['urls']]?: string | undefined } }

export const readProviderUrls = (env: Record<string, string | undefined>): ProviderUrls =>
  Object.fromEntries(
    quantumProviders.map(({ credentials, urls }) => [
      credentials,
      Object.fromEntries(Object.entries(urls).map(([service, variable]) => [service, env[variable] || undefined]))
    ])
  )

/** The credentials that a team needs, by the name of the provider. */
export const credentialsOfProvider: Readonly<Record<string, CredentialProvider>> = Object.fromEntries(
  quantumProviders.map(({ name, credentials }) => [name, credentials])
)
