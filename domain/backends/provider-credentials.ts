// Credentials of providers: the names that each provider uses, their aliases, and the format of their values. No
// message repeats a value. No value is an address: hosts come from a fixed table, and values that become part of a host
// or path are limited to characters that cannot redirect it.
import { validationError } from '../errors.js'

export const credentialProviders = ['aws-braket', 'ibm-quantum', 'azure-quantum', 'ionq'] as const
export type CredentialProvider = (typeof credentialProviders)[number]

/** What the last check of a credential with its provider found. */
export const credentialStates = ['untested', 'valid', 'invalid', 'unreachable'] as const
export type CredentialState = (typeof credentialStates)[number]

/** Values by name. */
export type Credentials = Record<string, string>

interface CredentialName {
  required?: true
  /** Its value opens the account; others only name a place in it. */
  secret?: true
  shape: RegExp
  /** A description of the format, to follow "must be". */
  expected: string
  aliases: readonly string[]
}

// Printable ASCII without spaces: it is valid in a header, and excludes a line end copied from the clipboard.
const token = {
  secret: true as const,
  shape: /^[!-~]{8,4096}$/,
  expected: '8 to 4096 printable ASCII characters without spaces'
}
const uuid = {
  shape: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  expected: 'a UUID such as 01234567-89ab-cdef-0123-456789abcdef'
}

const names: Record<CredentialProvider, Record<string, CredentialName>> = {
  'aws-braket': {
    access_key_id: {
      required: true,
      shape: /^[A-Za-z0-9_]{16,128}$/,
      expected: '16 to 128 letters, digits or underscores',
      aliases: ['aws_access_key_id', 'AWS_ACCESS_KEY_ID']
    },
    secret_access_key: {
      required: true,
      secret: true,
      shape: /^[A-Za-z0-9/+=_-]{16,128}$/,
      expected: '16 to 128 characters, as AWS shows it',
      aliases: ['aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY']
    },
    default_region: {
      shape: /^(?=.{1,32}$)[a-z]{2,4}(-[a-z]{1,16}){1,3}-\d{1,2}$/,
      expected: 'an AWS region such as us-east-1',
      aliases: ['region', 'aws_default_region', 'aws_region', 'AWS_DEFAULT_REGION', 'AWS_REGION']
    },
    session_token: { ...token, aliases: ['aws_session_token', 'AWS_SESSION_TOKEN'] },
    s3_bucket: {
      shape: /^(?=.{3,63}$)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)*$/,
      expected:
        'the name of an S3 bucket (3 to 63 lower-case letters, digits, hyphens or single dots), not its address',
      aliases: ['aws_s3_bucket', 'S3_BUCKET', 'AWS_S3_BUCKET']
    },
    s3_prefix: {
      shape: /^(?=.{1,256}$)(?!\/)(?!.*\/\/)(?!(.*\/)?\.\.?(\/|$))[A-Za-z0-9!_.*'()/-]+$/,
      expected: "1 to 256 letters, digits or !_.*'()-, in parts between single slashes, none of them . or ..",
      aliases: ['aws_s3_prefix', 'S3_PREFIX', 'AWS_S3_PREFIX']
    }
  },
  'ibm-quantum': {
    token: {
      required: true,
      ...token,
      aliases: ['api_token', 'ibm_token', 'ibm_api_token', 'ibm_quantum_token']
        .flatMap(bothCases)
        .concat(['TOKEN', 'IBM_CLOUD_API_KEY', 'QISKIT_IBM_TOKEN'])
    },
    instance: {
      shape:
        /^crn:v1:[a-z0-9-]{1,32}:[a-z0-9-]{1,32}:quantum-computing:[a-z0-9-]{1,32}:a\/[A-Za-z0-9-]{1,64}:[A-Za-z0-9-]{1,64}::$/,
      expected:
        'a CRN such as crn:v1:bluemix:public:quantum-computing:us-east:a/ACCOUNT:INSTANCE:: (IBM has ended paths hub/group/project)',
      aliases: ['ibm_instance', 'ibm_quantum_instance'].flatMap(bothCases).concat(['QISKIT_IBM_INSTANCE'])
    },
    channel: {
      shape: /^(ibm_quantum_platform|ibm_cloud)$/,
      expected: 'ibm_quantum_platform or ibm_cloud',
      aliases: ['ibm_channel', 'ibm_quantum_channel'].flatMap(bothCases).concat(['QISKIT_IBM_CHANNEL'])
    }
  },
  'azure-quantum': {
    subscription_id: { required: true, ...uuid, aliases: azure('subscription_id') },
    resource_group: {
      required: true,
      shape: /^[A-Za-z0-9_()-](?:[A-Za-z0-9_().-]{0,88}[A-Za-z0-9_()-])?$/,
      expected: '1 to 90 letters, digits, dots, hyphens, underscores or parentheses, not a dot at either end',
      aliases: [...azure('resource_group'), ...azure('resource_group_name')]
    },
    workspace_name: {
      required: true,
      shape: /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,52}[A-Za-z0-9])$/,
      expected: '2 to 54 letters, digits or hyphens, not a hyphen at either end',
      aliases: [...azure('workspace_name'), ...azure('workspace')]
    },
    location: {
      required: true,
      shape: /^[a-z0-9]{1,32}$/,
      expected: 'an Azure location such as eastus',
      aliases: azure('location')
    },
    tenant_id: { ...uuid, aliases: azure('tenant_id') },
    client_id: { ...uuid, aliases: azure('client_id') },
    client_secret: { ...token, aliases: azure('client_secret') },
    api_key: { ...token, aliases: [...azure('api_key'), 'api_token'] }
  },
  ionq: {
    api_key: {
      required: true,
      ...token,
      aliases: ['api_token', 'ionq_api_key', 'IONQ_API_KEY', 'ionq_token', 'IONQ_TOKEN']
    }
  }
}

/** Groups of names of which a provider needs all or none. */
const together: Partial<Record<CredentialProvider, readonly string[]>> = {
  'azure-quantum': ['tenant_id', 'client_id', 'client_secret']
}

function bothCases(name: string): string[] {
  return [name, name.toUpperCase()]
}

function azure(name: string): string[] {
  const own = [`azure_${name}`, `azure_quantum_${name}`].flatMap(bothCases)
  return [...own, name.toUpperCase()].filter((alias) => alias !== name)
}

/**
 * Maps aliases to the provider's own names. The format of the values is not checked.
 * @throws ServiceError `validation_error` for a name that is unknown or given twice, and for a value that is not a
 * string.
 */
export function readCredentials(provider: CredentialProvider, given: Record<string, unknown>): Credentials {
  const values: Credentials = {}
  for (const [name, value] of Object.entries(given)) {
    const own = ownName(provider, name)
    if (own === null)
      throw validationError(
        `secrets${shownName(name)}: is not a credential of ${provider}; send ${describeNames(provider)}`
      )
    if (Object.hasOwn(values, own)) throw validationError(`secrets.${own}: is given twice, under two of its names`)
    if (typeof value !== 'string') throw validationError(`secrets.${own}: must be a string`)
    values[own] = value
  }
  if (Object.keys(values).length === 0)
    throw validationError(`secrets: must hold at least one value; ${provider} has ${describeNames(provider)}`)
  return values
}

/** What is wrong with the format of a value, without repeating it; `null` when nothing is. */
export function formatFault(provider: CredentialProvider, values: Credentials): string | null {
  for (const [name, value] of Object.entries(values)) {
    const { shape, expected } = names[provider][name]!
    if (!shape.test(value)) return `secrets.${name}: must be ${expected}`
  }
  return null
}

/** Which required name is missing; `null` when none is. */
export function missingFault(provider: CredentialProvider, present: Iterable<string>): string | null {
  const there = new Set(present)
  const missing = Object.entries(names[provider]).find(([name, { required }]) => required && !there.has(name))?.[0]
  if (missing) return `secrets.${missing}: is required; ${provider} needs ${requiredNames(provider).join(', ')}`
  const group = together[provider] ?? []
  const absent = group.find((name) => !there.has(name))
  if (absent && group.some((name) => there.has(name)))
    return `secrets.${absent}: is required too; send all of ${group.join(', ')}`
  return null
}

/** Values that belong to another one: a new value of that replaces them, where they are not written with it. */
const belongsTo: Partial<Record<CredentialProvider, Readonly<Record<string, string>>>> = {
  'aws-braket': { session_token: 'access_key_id' }
}

/** The names of stored values that a write makes useless, such as the session token of a replaced key. */
export const outlived = (provider: CredentialProvider, written: Credentials): string[] =>
  Object.entries(belongsTo[provider] ?? {}).flatMap(([name, owner]) =>
    Object.hasOwn(written, owner) && !Object.hasOwn(written, name) ? [name] : []
  )

/** What a job needs beyond the names that are required to store credentials. */
const neededForJobs: Partial<Record<CredentialProvider, readonly JobNeed[]>> = {
  'aws-braket': [
    { name: 's3_bucket', lack: 'No result storage destination' },
    { name: 'default_region', lack: 'No region', only: 'simulator' }
  ],
  'ibm-quantum': [{ name: 'instance', lack: 'No instance' }],
  'azure-quantum': [{ name: 'api_key', lack: 'No identity', instead: ['tenant_id', 'client_id', 'client_secret'] }]
}

interface JobNeed {
  name: string
  /** Names that together do as well. */
  instead?: readonly string[]
  lack: string
  /** The type of device whose jobs need it; without it, all do. */
  only?: string
}

/**
 * Why the team's stored credentials are not enough for a job on the backend; `null` when they are.
 * @param present the names of the stored values.
 */
export function missingForJob(
  provider: CredentialProvider,
  present: Iterable<string>,
  { deviceType }: { deviceType: string }
): string | null {
  const there = new Set(present)
  const required = requiredNames(provider).map((name): JobNeed => ({ name, lack: 'Incomplete credentials' }))
  const needs = [...required, ...(neededForJobs[provider] ?? [])]
  const missing = needs.find((need) => !isMet(need, there) && (need.only === undefined || need.only === deviceType))
  return missing ? `${missing.lack}: set ${wordsFor(missing)} in the team's ${provider} credentials` : null
}

const isMet = ({ name, instead }: JobNeed, there: ReadonlySet<string>): boolean =>
  there.has(name) || (instead?.every((one) => there.has(one)) ?? false)

const wordsFor = ({ name, instead }: JobNeed): string =>
  instead ? `${instead.slice(0, -1).join(', ')} and ${instead.at(-1)}, or ${name},` : name

/** A credential of a provider, as a form shows it. */
export interface CredentialField {
  name: string
  required: boolean
  /** A description of the format, to follow "must be". */
  expected: string
  secret: boolean
  /** The other names without which this one is of no use. */
  together: readonly string[]
  /** Which jobs need it, although it can be left out when credentials are stored: `jobs need s3_bucket`. */
  neededForJobs: string | null
}

/** The credentials of a provider, in the order in which they are described. */
export function credentialFields(provider: CredentialProvider): CredentialField[] {
  const group = together[provider] ?? []
  return [...requiredNames(provider), ...optionalNames(provider)].map((name) => {
    const { required = false, secret = false, expected } = names[provider][name]!
    const need = neededForJobs[provider]?.find((one) => one.name === name || one.instead?.includes(name))
    return {
      name,
      required,
      expected,
      secret,
      together: group.includes(name) ? group.filter((other) => other !== name) : [],
      neededForJobs: need ? neededWords(need) : null
    }
  })
}

function neededWords(need: JobNeed): string {
  const where = need.only === undefined ? '' : ` on a ${need.only}`
  return `jobs${where} need ${wordsFor(need).replace(/,$/, '')}`
}

const requiredNames = (provider: CredentialProvider): string[] =>
  Object.keys(names[provider]).filter((name) => names[provider][name]!.required)

const optionalNames = (provider: CredentialProvider): string[] =>
  Object.keys(names[provider]).filter((name) => !names[provider][name]!.required)

/** `access_key_id, secret_access_key (optional: default_region, ...)`. */
export function describeNames(provider: CredentialProvider): string {
  const optional = optionalNames(provider)
  return requiredNames(provider).join(', ') + (optional.length > 0 ? ` (optional: ${optional.join(', ')})` : '')
}

function ownName(provider: CredentialProvider, name: string): string | null {
  if (Object.hasOwn(names[provider], name)) return name
  return Object.entries(names[provider]).find(([, { aliases }]) => aliases.includes(name))?.[0] ?? null
}

/** A caller can send a value in the place of its name, so only text shaped like a name is repeated. */
const shownName = (name: string): string =>
  /^[A-Za-z]+(_[A-Za-z]+)*$/.test(name) && name.length <= 30 ? `.${name}` : ''
