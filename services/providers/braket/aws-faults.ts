// What AWS means by a refusal, in the words that a team needs to repair it. Braket names its errors in a header and has
// JSON bodies; S3 and STS have XML.
import type { ProviderFaultKind } from '../adapter.js'
import type { ProviderResponse, Refusals } from '../http.js'

interface Meaning {
  /** `null`: that of the status. */
  kind: ProviderFaultKind | null
  /** Replaces AWS's own. */
  message?: string
}

const credentials = "the team's aws-braket credentials"
const expired: Meaning = {
  kind: 'unauthorized',
  message: `the session token of ${credentials} has expired; store a new access_key_id, secret_access_key and session_token`
}
const unknownKey: Meaning = {
  kind: 'unauthorized',
  message: `AWS does not know the access key of ${credentials}, or its session token; the key was revoked or copied wrongly; store a valid one`
}
const wrongSecret: Meaning = {
  kind: 'unauthorized',
  message: `the secret_access_key of ${credentials} does not belong to their access_key_id; store both again`
}
/** Nothing was done, and the team can do nothing about it. */
const wrongClock: Meaning = {
  kind: 'unreachable',
  message: "this installation's clock differs from that of AWS by minutes; its operator has to set it"
}
const throttled: Meaning = { kind: 'busy' }

const meanings: Readonly<Record<string, Meaning>> = {
  ExpiredTokenException: expired,
  ExpiredToken: expired,
  UnrecognizedClientException: unknownKey,
  InvalidClientTokenId: unknownKey,
  InvalidAccessKeyId: unknownKey,
  InvalidToken: unknownKey,
  InvalidSignatureException: wrongSecret,
  SignatureDoesNotMatch: wrongSecret,
  RequestTimeTooSkewed: wrongClock,
  OptInRequired: { kind: 'unauthorized' },
  SubscriptionRequiredException: { kind: 'unauthorized' },
  ThrottlingException: throttled,
  Throttling: throttled,
  TooManyRequestsException: throttled,
  SlowDown: throttled,
  // Such as too many tasks at once: the quota has room again when some end.
  ServiceQuotaExceededException: { kind: 'busy' },
  DeviceOfflineException: { kind: 'offline' },
  DeviceRetiredException: { kind: 'retired' },
  NoSuchBucket: {
    kind: 'refused',
    message: 'there is no such bucket'
  }
}

export const refusals: Refusals = {
  kindOf: (response) => meaningOf(response).kind,
  messageOf: (response) => meaningOf(response).message ?? wordsOf(response)
}

function meaningOf(response: ProviderResponse): Meaning {
  const code = codeOf(response) ?? ''
  const elsewhere = bucketRegion(response, code)
  if (elsewhere !== null)
    return {
      kind: 'refused',
      message: `the bucket is in ${elsewhere}`
    }
  const meaning = Object.hasOwn(meanings, code) ? meanings[code]! : { kind: null }
  // A signature that is too old has the same name as a wrong one.
  if (meaning === wrongSecret && /expired|not yet current|skew/i.test(wordsOf(response) ?? '')) return wrongClock
  return meaning
}

/** S3 answers for a bucket in its region alone, and names that region elsewhere. */
function bucketRegion({ status, headers, text }: ProviderResponse, code: string): string | null {
  if (status !== 301 && status !== 307 && code !== 'AuthorizationHeaderMalformed') return null
  const named = headers['x-amz-bucket-region'] ?? /<Region>([^<]*)<\/Region>/.exec(text)?.[1]
  if (typeof named === 'string' && /^[a-z0-9-]{1,32}$/.test(named)) return named
  return status === 400 ? null : 'another region'
}

function codeOf({ headers, text }: ProviderResponse): string | null {
  const named = headers['x-amzn-errortype']
  // A namespace can stand before it, and the address of a document after it.
  if (typeof named === 'string') return named.split(':')[0]!.split('#').at(-1)!
  return /<Code>(\w{1,100})<\/Code>/.exec(text)?.[1] ?? null
}

function wordsOf({ text }: ProviderResponse): string | null {
  const inXml = /<Message>([^<]{1,2000})<\/Message>/.exec(text)?.[1]
  if (inXml !== undefined) return inXml.replaceAll(/&(?:lt|gt|amp|quot|apos|#\d{1,3});/g, decoded)
  try {
    const { message, Message } = JSON.parse(text) as { message?: unknown; Message?: unknown }
    const words = message ?? Message
    return typeof words === 'string' ? words : null
  } catch {
    return null
  }
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decoded(entity: string): string {
  const name = entity.slice(1, -1)
  return name.startsWith('#') ? String.fromCharCode(Number(name.slice(1))) : entities[name]!
}
