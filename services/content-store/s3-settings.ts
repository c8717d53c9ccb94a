// Where the content store is, from the environment of a process.

export interface S3Settings {
  bucket: string
  /** Empty, or with a slash at its end. */
  prefix: string
  region: string
  /** `null`: Amazon's own. */
  endpoint: string | null
  /** The bucket is in the path of addresses, not in their host. */
  pathStyle: boolean
  /** `null`: the AWS SDK finds them: variables, files, the role of the machine or of the pod. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null
  /** How the files of sealed capsules are locked for their retention; `null`: not at all. */
  lock: 'GOVERNANCE' | 'COMPLIANCE' | null
  /** `false`: contents stay where they are, and those in the store are read there. */
  moves: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_REGION = 'us-east-1'
/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html; other servers have the same or weaker rules. */
const bucketShape = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
/** Characters that every server and every tool takes as they are. */
const prefixShape = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/

/**
 * @returns `null` without CONTENT_STORE: contents are in the database alone.
 * @throws Error that names the variable which cannot be used, and no secret.
 */
export function readS3Settings(env: Environment): S3Settings | null {
  const url = env.CONTENT_STORE?.trim()
  if (!url) return null
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(url) ?? []
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`
  if (!bucketShape.test(bucket) || !prefixShape.test(prefix))
    throw new Error(`CONTENT_STORE must be s3://bucket or s3://bucket/prefix (got ${url})`)
  const endpoint = endpointOf(env.CONTENT_STORE_ENDPOINT?.trim() || null)
  return {
    bucket,
    prefix,
    region: env.CONTENT_STORE_REGION?.trim() || env.AWS_REGION?.trim() || DEFAULT_REGION,
    endpoint,
    pathStyle:
      oneOf('CONTENT_STORE_PATH_STYLE', env.CONTENT_STORE_PATH_STYLE, ['on', 'off'], endpoint ? 'on' : 'off') === 'on',
    credentials: credentialsOf(env),
    lock: locks[oneOf('CONTENT_STORE_LOCK', env.CONTENT_STORE_LOCK, ['off', 'governance', 'compliance'], 'off')],
    moves: oneOf('CONTENT_STORE_MOVES', env.CONTENT_STORE_MOVES, ['on', 'off'], 'on') === 'on'
  }
}

const locks = { off: null, governance: 'GOVERNANCE', compliance: 'COMPLIANCE' } as const

function endpointOf(endpoint: string | null): string | null {
  if (endpoint === null || (URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol))) return endpoint
  throw new Error(`CONTENT_STORE_ENDPOINT must be an address such as https://s3.example.org (got ${endpoint})`)
}

function credentialsOf(env: Environment): S3Settings['credentials'] {
  const accessKeyId = env.CONTENT_STORE_ACCESS_KEY_ID?.trim()
  const secretAccessKey = env.CONTENT_STORE_SECRET_ACCESS_KEY?.trim()
  if (!accessKeyId !== !secretAccessKey)
    throw new Error('CONTENT_STORE_ACCESS_KEY_ID and CONTENT_STORE_SECRET_ACCESS_KEY are set together or not at all')
  return accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null
}

function oneOf<T extends string>(name: string, value: string | undefined, allowed: readonly T[], otherwise: T): T {
  const text = value?.trim() || otherwise
  const found = allowed.find((one) => one === text)
  if (!found) throw new Error(`${name} must be ${allowed.join(' or ')} (got ${text})`)
  return found
}
