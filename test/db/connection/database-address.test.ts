// What DATABASE_URL says, in the words of libpq.
import { expect, test } from '@jest/globals'
import { readDatabaseAddress } from '../../../db/connection/database-address.js'

const hostsOf = (url: string) => readDatabaseAddress(url).hosts.map(({ host, port }) => `${host} ${port}`)

test.each([
  ['postgres://a:b@db.example/c', ['db.example 5432']],
  ['postgres://a:b@db.example:6432/c', ['db.example 6432']],
  ['postgresql://a:p%40ss@h1:1,h2:2/c', ['h1 1', 'h2 2']],
  ['postgres://a:b@h1,h2:6432/c?target_session_attrs=read-write', ['h1 5432', 'h2 6432']],
  ['postgres://a:b@[::1]:1,10.0.0.2/c', ['::1 1', '10.0.0.2 5432']],
  ['postgres://a:p@ss@h1/c', ['h1 5432']],
  ['postgres://a@%2Fvar%2Frun%2Fpostgresql/c', ['/var/run/postgresql 5432']],
  ['postgres:///c', ['localhost 5432']]
])('the hosts of %s', (url, hosts) => {
  expect(hostsOf(url)).toEqual(hosts)
})

test('the driver gets user, password, database and parameters of Postgres, and nothing of hosts and TLS', () => {
  expect(
    readDatabaseAddress(
      'postgres://a:p%40ss@h1:1,h2:2/c?sslmode=require&application_name=x&target_session_attrs=primary&connect_timeout=9'
    )
  ).toMatchObject({ driverUrl: 'postgres://a:p%40ss@localhost/c?application_name=x', sessionAttributes: 'primary' })
})

test('without a word of TLS there is none; files alone ask for it where the server has it', () => {
  const tls = (words: string) => readDatabaseAddress(`postgres://a:b@db.example/c${words}`).hosts[0]!.tls?.required
  expect(tls('')).toBeUndefined()
  expect(tls('?sslmode=disable')).toBeUndefined()
  expect(tls(`?sslcert=${import.meta.dirname}/database-address.test.ts`)).toBe(false)
  expect(tls('?sslrootcert=system')).toBe(true)
})

test.each([
  ['?sslmode=always', 'sslmode must be one of disable, allow, prefer, require, verify-ca, verify-full (got always)'],
  ['?sslmode=require&sslrootcert=system', 'sslrootcert=system needs sslmode=verify-full'],
  ['?sslmode=verify-full&sslrootcert=/none/ca.pem', 'sslrootcert=/none/ca.pem cannot be read: ENOENT'],
  ['?target_session_attrs=standby', 'target_session_attrs must be any, read-write or primary'],
  ['?channel_binding=require', 'channel_binding=require is not available']
])('%s is refused by name', (words, message) => {
  expect(() => readDatabaseAddress(`postgres://a:b@db.example/c${words}`)).toThrow(`DATABASE_URL: ${message}`)
})

test.each(['/tmp', 'mysql://a@b/c', 'postgres://a@h1:port/c', 'postgres://a@h1:1,h 2/c'])(
  '%s is no address, and the variable is named',
  (url) => {
    expect(() => readDatabaseAddress(url, 'DATABASE_DIRECT_URL')).toThrow(/^DATABASE_DIRECT_URL: /)
  }
)
