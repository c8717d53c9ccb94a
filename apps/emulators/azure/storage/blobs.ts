// Blob storage by path, /account/container/blob: block blobs in one piece, and the results of jobs. Everything else of the
// service is refused by name.
import { createHash } from 'node:crypto'
import type { ProviderReply } from '../../provider.js'
import { AzureError } from '../replies.js'
import { assertSigned, fieldsOf, type Place } from './sas.js'

/** Bounds the memory of a stack that uses the emulator for weeks. */
const containersMax = 100_000
const blobBytesMax = 8 * 1024 * 1024
const bytesMax = 256 * 1024 * 1024

export interface Blob {
  body: Buffer
  type: string
  encoding: string | null
  /** Milliseconds since 1970. */
  modifiedAt: number
}

export interface BlobRequest {
  method: string
  path: string
  query: string
  /** http or https */
  protocol: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

export class BlobStore {
  private containers = new Set<string>()
  private blobs = new Map<string, Blob>()
  private bytes = 0

  /** @param results the results of jobs, by their place. */
  constructor(
    private readonly now: () => number,
    private readonly results: (place: Place) => Blob | null
  ) {}

  /** @throws AzureError if the name is not that of a container, or the emulator is full. */
  createContainer(account: string, name: string): void {
    if (!/^(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name))
      throw new AzureError(
        400,
        'InvalidContainerName',
        `containerName: must be 3 to 63 small letters, digits or single hyphens (got ${name.slice(0, 80)})`
      )
    if (this.containers.size >= containersMax && !this.hasContainer(account, name)) throw full()
    this.containers.add(`${account}/${name}`)
  }

  hasContainer(account: string, name: string): boolean {
    return this.containers.has(`${account}/${name}`)
  }

  get(place: Place): Blob | null {
    return this.blobs.get(keyOf(place)) ?? this.results(place)
  }

  /** The response for a place without a blob. */
  missing(): AzureError {
    return new AzureError(404, 'BlobNotFound', 'The specified blob does not exist.')
  }

  /** @throws AzureError */
  answer({ method, path, query, protocol, headers, body }: BlobRequest): ProviderReply {
    const fields = fieldsOf(query)
    const [, account = '', container = '', ...rest] = path.split('/').map(decodeURIComponent)
    const place: Place = { account, container, blob: rest.join('/') }
    const writes = method === 'PUT'
    if (place.blob === '' || fields.has('comp') || !['GET', 'HEAD', 'PUT'].includes(method))
      throw new AzureError(501, 'NotImplemented', `This emulator does not know ${method} of ${path} with these fields.`)
    const stored = this.blobs.get(keyOf(place))
    const needed = writes ? (stored ? 'w' : 'cw') : 'r'
    assertSigned(fields, place, needed, { now: this.now(), protocol })
    if (!this.hasContainer(account, container))
      throw new AzureError(404, 'ContainerNotFound', 'The specified container does not exist.')
    if (writes) return this.put(place, headers, body)
    const found = stored ?? this.results(place)
    if (!found) throw this.missing()
    return partOf(found, String(headers['x-ms-range'] ?? headers.range ?? ''))
  }

  private put(place: Place, headers: BlobRequest['headers'], body: Buffer): ProviderReply {
    const blobType = headers['x-ms-blob-type']
    if (blobType === undefined)
      throw new AzureError(
        400,
        'MissingRequiredHeader',
        "An HTTP header that's mandatory for this request is not specified.",
        { HeaderName: 'x-ms-blob-type' }
      )
    if (blobType !== 'BlockBlob')
      throw new AzureError(501, 'NotImplemented', `This emulator stores block blobs, and not ${String(blobType)}.`)
    const key = keyOf(place)
    const before = this.blobs.get(key)
    if (headers['if-none-match'] === '*' && (before ?? this.results(place)))
      throw new AzureError(409, 'BlobAlreadyExists', 'The specified blob already exists.')
    if (body.length > blobBytesMax)
      throw new AzureError(413, 'RequestBodyTooLarge', `This emulator stores blobs of at most ${blobBytesMax} bytes.`)
    const bytes = this.bytes - (before?.body.length ?? 0) + body.length
    if (bytes > bytesMax) throw full()
    const typeSent = headers['x-ms-blob-content-type'] ?? headers['content-type'] ?? 'application/octet-stream'
    const encoding = String(headers['x-ms-blob-content-encoding'] ?? '')
    const blob = { body, type: String(typeSent), encoding: encoding || null, modifiedAt: this.now() }
    this.blobs.set(key, blob)
    this.bytes = bytes
    return {
      status: 201,
      headers: { etag: etagOf(blob), 'last-modified': modified(blob), 'content-md5': md5Of(body) },
      body: ''
    }
  }

  reset(): void {
    this.containers.clear()
    this.blobs.clear()
    this.bytes = 0
  }
}

const keyOf = ({ account, container, blob }: Place): string => `${account}/${container}/${blob}`

const full = (): AzureError =>
  new AzureError(413, 'AccountIsFull', 'This emulator is full: POST <control_url>/reset clears it.')

const md5Of = (body: Buffer): string => createHash('md5').update(body).digest('base64')

/** Azure's tags are numbers that grow with each change. */
const etagOf = ({ body, modifiedAt }: Blob): string =>
  `"0x8D${createHash('sha256').update(String(modifiedAt)).update(body).digest('hex').slice(0, 13).toUpperCase()}"`

const modified = ({ modifiedAt }: Blob): string => new Date(modifiedAt).toUTCString()

/** The whole blob, or the one part that a range names. */
function partOf(blob: Blob, range: string): ProviderReply {
  const { body, type, encoding } = blob
  const headers = {
    'content-type': type,
    ...(encoding !== null && { 'content-encoding': encoding }),
    etag: etagOf(blob),
    'last-modified': modified(blob),
    'accept-ranges': 'bytes',
    'x-ms-blob-type': 'BlockBlob'
  }
  const { length } = body
  const [, first, last = ''] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? []
  if (first === undefined) return { status: 200, headers: { ...headers, 'content-md5': md5Of(body) }, body }
  const from = Number(first)
  const to = last === '' ? length - 1 : Math.min(Number(last), length - 1)
  if (from >= length || from > to)
    throw new AzureError(
      416,
      'InvalidRange',
      'The range specified is invalid for the current size of the resource.',
      {},
      { 'content-range': `bytes */${length}` }
    )
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${to}/${length}` },
    body: body.subarray(from, to + 1)
  }
}
