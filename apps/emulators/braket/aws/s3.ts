// S3 by path: objects of the account's buckets, and the results of tasks. Everything else of S3 is refused by name.
import { createHash } from 'node:crypto'
import type { ProviderReply } from '../../provider.js'
import { account, otherAccount } from './keys.js'
import { AwsError } from './replies.js'
import type { Caller } from './signature.js'

export const mainBucket = 'amazon-braket-emulated'

interface Bucket {
  owner: string
  /** Null: it answers in every region, which no real bucket does, so that one name serves the devices of all regions. */
  region: string | null
}

const firstBuckets = (): Record<string, Bucket> => ({
  [mainBucket]: { owner: account, region: null },
  'amazon-braket-emulated-us-east-1': { owner: account, region: 'us-east-1' },
  'amazon-braket-emulated-us-west-1': { owner: account, region: 'us-west-1' },
  'amazon-braket-emulated-eu-north-1': { owner: account, region: 'eu-north-1' },
  'amazon-braket-emulated-other': { owner: otherAccount, region: null }
})

/** Bounds the memory of a stack that uses the emulator for weeks. */
const objectsMax = 1000
const objectBytesMax = 10 * 1024 * 1024

export interface StoredObject {
  body: Buffer
  type: string
  /** Milliseconds since 1970. */
  modifiedAt: number
}

export class ObjectStore {
  private buckets = firstBuckets()
  private objects = new Map<string, StoredObject>()
  /** Whether the keys may list: without it, S3 says 403 for a key that does not exist. */
  listBucket = true

  /** @param results the results of tasks, by bucket and key. */
  constructor(
    private readonly now: () => number,
    private readonly results: (bucket: string, key: string) => StoredObject | null
  ) {}

  /** @throws AwsError if the caller cannot use the bucket in its region. */
  assertUsable(name: string, { account: owner, region }: Pick<Caller, 'account' | 'region'>): void {
    const bucket = this.buckets[name]
    if (!bucket) throw new AwsError('NoSuchBucket', 'The specified bucket does not exist')
    if (bucket.region !== null && bucket.region !== region)
      throw new AwsError(
        'PermanentRedirect',
        'The bucket you are attempting to access must be addressed using the specified endpoint.',
        { 'x-amz-bucket-region': bucket.region }
      )
    if (bucket.owner !== owner) throw new AwsError('AccessDenied', 'Access Denied')
  }

  /** @throws Error for an unknown bucket. */
  move(name: string, region: string | null): void {
    const bucket = this.buckets[name]
    if (!bucket) throw new Error(`There is no bucket ${name} (buckets: ${Object.keys(this.buckets).join(', ')}).`)
    bucket.region = region
  }

  /** The response for a key without an object. */
  missing(): AwsError {
    return this.listBucket
      ? new AwsError('NoSuchKey', 'The specified key does not exist.')
      : new AwsError('AccessDenied', 'User is not authorized to perform: s3:ListBucket')
  }

  answer(method: string, path: string, headers: Record<string, unknown>, body: Buffer, caller: Caller): ProviderReply {
    const [bucket = '', ...rest] = path.slice(1).split('/').map(decoded)
    const key = rest.join('/')
    if (key === '') return this.answerBucket(method, bucket, caller)
    this.assertUsable(bucket, caller)
    if (method === 'PUT') return this.put(`${bucket}/${key}`, headers, body)
    if (method !== 'GET' && method !== 'HEAD') throw notImplemented(method, 'an object')
    const found = this.objects.get(`${bucket}/${key}`) ?? this.results(bucket, key)
    if (!found) throw this.missing()
    return rangeOf(found, String(headers.range ?? ''))
  }

  private answerBucket(method: string, name: string, caller: Caller): ProviderReply {
    if (method === 'PUT' && this.buckets[name]?.owner === caller.account)
      throw new AwsError('BucketAlreadyOwnedByYou', 'The bucket that you tried to create already exists.')
    if (method !== 'HEAD') throw notImplemented(method, 'a bucket')
    this.assertUsable(name, caller)
    if (!this.listBucket) throw new AwsError('AccessDenied', 'Access Denied')
    const region = this.buckets[name]!.region ?? caller.region
    return { status: 200, headers: { 'content-type': 'application/xml', 'x-amz-bucket-region': region }, body: '' }
  }

  private put(place: string, headers: Record<string, unknown>, body: Buffer): ProviderReply {
    if (String(headers['x-amz-content-sha256']).startsWith('STREAMING-'))
      throw new AwsError('NotImplemented', 'This emulator takes no body in signed chunks.')
    if (body.length > objectBytesMax || (this.objects.size >= objectsMax && !this.objects.has(place)))
      throw new AwsError('EntityTooLarge', 'This emulator is full: POST <control_url>/reset clears it.')
    const type = String(headers['content-type'] ?? 'binary/octet-stream')
    const object = { body, type, modifiedAt: this.now() }
    this.objects.set(place, object)
    return { status: 200, headers: { etag: etagOf(object) }, body: '' }
  }

  reset(): void {
    this.buckets = firstBuckets()
    this.objects.clear()
    this.listBucket = true
  }
}

const notImplemented = (method: string, what: string): AwsError =>
  new AwsError('NotImplemented', `This emulator does not know ${method} for ${what}.`)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new AwsError('InvalidRequest', "Couldn't parse the specified URI.")
  }
}

const etagOf = ({ body }: StoredObject): string => `"${createHash('md5').update(body).digest('hex')}"`

const headersOf = (object: StoredObject): Record<string, string> => ({
  'content-type': object.type,
  etag: etagOf(object),
  'last-modified': new Date(object.modifiedAt).toUTCString(),
  'accept-ranges': 'bytes'
})

/** The whole object, or the one part that a range names. */
function rangeOf(object: StoredObject, range: string): ProviderReply {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  const { length } = object.body
  if (first === '' && last === '') return { status: 200, headers: headersOf(object), body: object.body }
  const from = first === '' ? Math.max(0, length - Number(last)) : Number(first)
  const to = first === '' || last === '' ? length - 1 : Math.min(Number(last), length - 1)
  if (from > to) throw new AwsError('InvalidRange', 'The requested range is not satisfiable')
  return {
    status: 206,
    headers: { ...headersOf(object), 'content-range': `bytes ${from}-${to}/${length}` },
    body: object.body.subarray(from, to + 1)
  }
}
