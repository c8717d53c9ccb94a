// Where the content store is, from the environment.
import { expect, test } from '@jest/globals'
import { readS3Settings } from '../../../services/content-store/s3-settings.js'

const store = { CONTENT_STORE: 's3://results' }

test('without CONTENT_STORE there is none', () => {
  expect(readS3Settings({})).toBeNull()
  expect(readS3Settings({ CONTENT_STORE: ' ', CONTENT_STORE_ENDPOINT: 'http://127.0.0.1:1' })).toBeNull()
})

test('a bucket alone is one of Amazon, with the credentials that the machine has', () => {
  expect(readS3Settings(store)).toEqual({
    bucket: 'results',
    prefix: '',
    region: 'us-east-1',
    endpoint: null,
    pathStyle: false,
    credentials: null,
    lock: null,
    moves: true
  })
  expect(readS3Settings({ ...store, AWS_REGION: 'eu-central-1' })).toMatchObject({ region: 'eu-central-1' })
})

test('a server of its own has the bucket in the path, unless told otherwise', () => {
  const own = { ...store, CONTENT_STORE_ENDPOINT: 'https://s3.example.org:9000' }
  expect(readS3Settings(own)).toMatchObject({ endpoint: 'https://s3.example.org:9000', pathStyle: true })
  expect(readS3Settings({ ...own, CONTENT_STORE_PATH_STYLE: 'off' })).toMatchObject({ pathStyle: false })
})

test('all settings are read', () => {
  expect(
    readS3Settings({
      CONTENT_STORE: 's3://results/production/contents',
      CONTENT_STORE_REGION: 'eu-west-1',
      CONTENT_STORE_ACCESS_KEY_ID: 'id',
      CONTENT_STORE_SECRET_ACCESS_KEY: 'secret',
      CONTENT_STORE_LOCK: 'compliance',
      CONTENT_STORE_MOVES: 'off'
    })
  ).toEqual({
    bucket: 'results',
    prefix: 'production/contents/',
    region: 'eu-west-1',
    endpoint: null,
    pathStyle: false,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    lock: 'COMPLIANCE',
    moves: false
  })
})

test.each([
  ['https://results', 'CONTENT_STORE must be s3://bucket'],
  ['s3://', 'CONTENT_STORE must be s3://bucket'],
  ['s3://Results', 'CONTENT_STORE must be s3://bucket'],
  ['s3://results/../other', 'CONTENT_STORE must be s3://bucket'],
  ['s3://results/a//b', 'CONTENT_STORE must be s3://bucket'],
  ['s3://results/a b', 'CONTENT_STORE must be s3://bucket']
])('the address %s is refused', (address, message) => {
  expect(() => readS3Settings({ CONTENT_STORE: address })).toThrow(message)
})

test.each([
  [{ CONTENT_STORE_ENDPOINT: 's3.example.org' }, 'CONTENT_STORE_ENDPOINT must be an address'],
  [{ CONTENT_STORE_ENDPOINT: 'ftp://s3.example.org' }, 'CONTENT_STORE_ENDPOINT must be an address'],
  [{ CONTENT_STORE_ACCESS_KEY_ID: 'id' }, 'are set together or not at all'],
  [{ CONTENT_STORE_SECRET_ACCESS_KEY: 'a secret' }, 'are set together or not at all'],
  [{ CONTENT_STORE_LOCK: 'on' }, 'CONTENT_STORE_LOCK must be off or governance or compliance'],
  [{ CONTENT_STORE_MOVES: 'yes' }, 'CONTENT_STORE_MOVES must be on or off']
])('%j is refused by its name, without a secret', (settings, message) => {
  const reading = () => readS3Settings({ ...store, ...settings } as Record<string, string>)
  expect(reading).toThrow(message)
  expect(reading).not.toThrow('a secret')
})
