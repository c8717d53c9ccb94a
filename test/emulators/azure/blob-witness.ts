// A table of requests to Azure's blob storage, and what a server of it answers to them. `npm run witness` asks Azurite, a server
// of others, and keeps its answers in test/emulators/fixtures/blob-witness.json; a test holds the emulated storage against them.
import { type Signed, type StorageAccount, serviceSas } from './sas.js'

interface Asked {
  name: string
  method: 'GET' | 'HEAD' | 'PUT'
  blob: string
  /** Another container than the one that exists. */
  container?: string
  body?: string
  headers?: Record<string, string>
  signed?: Partial<Signed> & {
    /** Signs this blob instead of the whole container. */
    blob?: string
    by?: 'another key' | 'nobody'
  }
}

const block = { 'x-ms-blob-type': 'BlockBlob' }
const past = '2020-01-01T00:00:00Z'
const future = '2099-01-01T00:00:00Z'

/** In order: later requests read what earlier ones wrote. */
const table: readonly Asked[] = [
  { name: 'a missing blob', method: 'GET', blob: 'missing/outputData' },
  { name: 'the head of a missing blob', method: 'HEAD', blob: 'missing/outputData' },
  { name: 'a new blob', method: 'PUT', blob: 'inputData', body: '0123456789', headers: block },
  { name: 'the blob', method: 'GET', blob: 'inputData' },
  { name: 'the head of the blob', method: 'HEAD', blob: 'inputData' },
  { name: 'the blob by a signature of its own', method: 'GET', blob: 'inputData', signed: { blob: 'inputData' } },
  { name: 'the prefix of the blob', method: 'GET', blob: 'input' },
  { name: 'a part of the blob', method: 'GET', blob: 'inputData', headers: { range: 'bytes=2-4' } },
  { name: 'a part by the other header', method: 'GET', blob: 'inputData', headers: { 'x-ms-range': 'bytes=2-4' } },
  { name: 'the end of the blob', method: 'GET', blob: 'inputData', headers: { range: 'bytes=7-' } },
  { name: 'a part that ends beyond the blob', method: 'GET', blob: 'inputData', headers: { range: 'bytes=8-99' } },
  { name: 'a part beyond the blob', method: 'GET', blob: 'inputData', headers: { range: 'bytes=500-600' } },
  { name: 'a blob without a type', method: 'PUT', blob: 'other', body: 'other' },
  {
    name: 'a blob that must not replace another',
    method: 'PUT',
    blob: 'inputData',
    body: 'second',
    headers: { ...block, 'if-none-match': '*' }
  },
  {
    name: 'a blob that replaces another',
    method: 'PUT',
    blob: 'inputData',
    body: 'second',
    headers: { ...block, 'x-ms-blob-content-type': 'application/json' }
  },
  { name: 'the blob that replaced it', method: 'GET', blob: 'inputData' },
  { name: 'a blob with a strange name', method: 'PUT', blob: "a b/(ü)!*'~+=&", body: 'strange', headers: block },
  { name: 'the blob with a strange name', method: 'GET', blob: "a b/(ü)!*'~+=&" },
  { name: 'an empty blob', method: 'PUT', blob: 'empty', body: '', headers: block },
  { name: 'the empty blob', method: 'GET', blob: 'empty' },
  { name: 'a part of the empty blob', method: 'GET', blob: 'empty', headers: { range: 'bytes=0-9' } },
  { name: 'no signature', method: 'GET', blob: 'inputData', signed: { by: 'nobody' } },
  { name: 'a signature with another key', method: 'GET', blob: 'inputData', signed: { by: 'another key' } },
  { name: 'the signature of another blob', method: 'GET', blob: 'inputData', signed: { blob: 'other' } },
  { name: 'an expired signature', method: 'GET', blob: 'inputData', signed: { expires: past } },
  { name: 'a signature that begins later', method: 'GET', blob: 'inputData', signed: { starts: future } },
  { name: 'a write with an expired signature', method: 'PUT', blob: 'a', headers: block, signed: { expires: past } },
  { name: 'a signature without the right to read', method: 'GET', blob: 'inputData', signed: { permissions: 'cw' } },
  {
    name: 'a signature without the right to write',
    method: 'PUT',
    blob: 'inputData',
    headers: block,
    signed: { permissions: 'r' }
  },
  {
    name: 'a signature to create, for a blob that exists',
    method: 'PUT',
    blob: 'inputData',
    headers: block,
    signed: { permissions: 'c' }
  },
  { name: 'a signature for TLS alone', method: 'GET', blob: 'inputData', signed: { protocol: 'https' } },
  { name: 'a blob of a missing container', method: 'GET', blob: 'a', container: 'no-such-container' },
  { name: 'a write to a missing container', method: 'PUT', blob: 'a', container: 'no-such-container', headers: block }
]

export interface WitnessAnswer {
  name: string
  status: number
  /** The code of an error. */
  code: string | null
  body: string | null
  headers: Record<string, string>
}

/** What clients read of an answer with a blob. */
const headersRead = ['content-type', 'content-length', 'content-range', 'x-ms-blob-type']

/** Asks a server everything in the table. The container exists and holds nothing. */
export async function askBlobs(address: string, storage: StorageAccount, container: string): Promise<WitnessAnswer[]> {
  const answers: WitnessAnswer[] = []
  for (const asked of table) answers.push(await ask(address, storage, container, asked))
  return answers
}

async function ask(
  address: string,
  storage: StorageAccount,
  own: string,
  { name, method, blob, container = own, body, headers = {}, signed: changes = {} }: Asked
): Promise<WitnessAnswer> {
  const { blob: signedBlob = null, by, ...fields } = changes
  const signer = by === 'another key' ? { ...storage, account_key: Buffer.from('another').toString('base64') } : storage
  const query = serviceSas(signer, container, signedBlob, { permissions: 'rcw', expires: future, ...fields })
  const path = [storage.account, container, ...blob.split('/')].map(escaped).join('/')
  const response = await fetch(`${address}/${path}${by === 'nobody' ? '' : `?${query}`}`, {
    method,
    headers: { 'content-type': 'text/plain', ...headers },
    body: method === 'PUT' ? (body ?? '') : null
  })
  const text = await response.text()
  const failed = response.status >= 400
  return {
    name,
    status: response.status,
    code: failed ? (response.headers.get('x-ms-error-code') ?? /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? null) : null,
    body: failed ? null : text,
    headers:
      failed || method === 'PUT'
        ? {}
        : Object.fromEntries(
            headersRead.flatMap((one) => (response.headers.has(one) ? [[one, response.headers.get(one)!]] : []))
          )
  }
}

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
