// A table of requests to S3, and what a server of S3 answers to them. `npm run witness` asks moto, a server of others, and
// keeps its answers in test/emulators/fixtures/s3-witness.json; a test holds the emulated S3 against them.
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'

export interface WitnessKeys {
  accessKeyId: string
  secretAccessKey: string
}

interface Asked {
  name: string
  method: 'GET' | 'HEAD' | 'PUT'
  /** Below the bucket; the bucket itself if empty. */
  key: string
  /** Another bucket than the one that exists. */
  bucket?: string
  body?: string
  headers?: Record<string, string>
  signed?: 'by another secret' | 'by an unknown key'
}

/** In order: later requests read what earlier ones wrote. */
const table: readonly Asked[] = [
  { name: 'the bucket', method: 'HEAD', key: '' },
  { name: 'a missing bucket', method: 'HEAD', key: '', bucket: 'no-such-bucket-of-anybody' },
  { name: 'a key of a missing bucket', method: 'GET', key: 'a', bucket: 'no-such-bucket-of-anybody' },
  { name: 'a missing key', method: 'GET', key: 'missing/results.json' },
  { name: 'the head of a missing key', method: 'HEAD', key: 'missing/results.json' },
  { name: 'a new object', method: 'PUT', key: 'tasks/one/results.json', body: '{"measurements":[[1,0,0]]}' },
  { name: 'the object', method: 'GET', key: 'tasks/one/results.json' },
  { name: 'the head of the object', method: 'HEAD', key: 'tasks/one/results.json' },
  { name: 'the prefix of the object', method: 'GET', key: 'tasks/one' },
  { name: 'a part of the object', method: 'GET', key: 'tasks/one/results.json', headers: { range: 'bytes=2-13' } },
  { name: 'the end of the object', method: 'GET', key: 'tasks/one/results.json', headers: { range: 'bytes=20-' } },
  {
    name: 'a part beyond the object',
    method: 'GET',
    key: 'tasks/one/results.json',
    headers: { range: 'bytes=500-600' }
  },
  { name: 'an object with a strange key', method: 'PUT', key: "a b/(ü)!*'~+=&", body: 'strange' },
  { name: 'the object with a strange key', method: 'GET', key: "a b/(ü)!*'~+=&" },
  { name: 'an object that replaces another', method: 'PUT', key: 'tasks/one/results.json', body: 'second' },
  { name: 'the object that replaced it', method: 'GET', key: 'tasks/one/results.json' },
  { name: 'another secret', method: 'GET', key: 'tasks/one/results.json', signed: 'by another secret' },
  { name: 'an unknown key', method: 'GET', key: 'tasks/one/results.json', signed: 'by an unknown key' }
]

export interface WitnessAnswer {
  name: string
  status: number
  /** The code of an error. */
  code: string | null
  body: string | null
  headers: Record<string, string>
}

/** What clients read of an answer with an object, and of one without. */
const headersRead = { object: ['content-type', 'content-length', 'content-range', 'etag'], nothing: ['etag'] }

/** Asks a server everything in the table. The bucket exists and holds nothing. */
export async function askStorage(address: string, bucket: string, keys: WitnessKeys): Promise<WitnessAnswer[]> {
  const answers: WitnessAnswer[] = []
  for (const asked of table) answers.push(await ask(address, bucket, keys, asked))
  return answers
}

async function ask(
  address: string,
  bucket: string,
  keys: WitnessKeys,
  { name, method, key, body, headers = {}, signed, ...other }: Asked
): Promise<WitnessAnswer> {
  const { host, hostname } = new URL(address)
  const path = ['', other.bucket ?? bucket, ...(key === '' ? [] : key.split('/'))].map(escaped).join('/')
  const credentials = {
    ...keys,
    ...(signed === 'by another secret' && { secretAccessKey: 'x'.repeat(40) }),
    ...(signed === 'by an unknown key' && { accessKeyId: 'AKIAUNKNOWN000000001' })
  }
  const signer = new SignatureV4({
    service: 's3',
    region: 'us-east-1',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: true,
    credentials
  })
  const request = await signer.sign({
    method,
    protocol: 'http:',
    hostname,
    path,
    query: {},
    headers: { host, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body })
  })
  const { host: _host, ...sent } = request.headers
  const response = await fetch(`${address}${path}`, { method, headers: sent, body: body ?? null })
  const text = await response.text()
  const failed = response.status >= 400
  const read = headersRead[method === 'PUT' || key === '' ? 'nothing' : 'object']
  return {
    name,
    status: response.status,
    code: failed ? (/<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? null) : null,
    body: failed ? null : text,
    headers: failed
      ? {}
      : Object.fromEntries(
          read.flatMap((one) => (response.headers.has(one) ? [[one, response.headers.get(one)!]] : []))
        )
  }
}

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
