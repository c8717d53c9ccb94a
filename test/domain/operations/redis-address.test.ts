// What REDIS_URL can say.
import { expect, test } from '@jest/globals'
import { readRedisAddress } from '../../../domain/operations/redis-address.js'

test.each([
  ['redis://localhost', { kind: 'server', hosts: [{ host: 'localhost', port: 6379 }], tls: false, login: {}, db: 0 }],
  [
    ' rediss://ada:p%40ss%2F%25@redis.example.org:6380/3 ',
    {
      kind: 'server',
      hosts: [{ host: 'redis.example.org', port: 6380 }],
      tls: true,
      login: { username: 'ada', password: 'p@ss/%' },
      db: 3
    }
  ],
  // A colon in a password, and an @, are as browsers read them.
  [
    'redis://:a:b@c@[fd00::1]:6379/',
    { kind: 'server', hosts: [{ host: 'fd00::1', port: 6379 }], tls: false, login: { password: 'a:b@c' }, db: 0 }
  ],
  [
    'redis-sentinel://:pw@s1,s2:26380,[::1]:1/main',
    {
      kind: 'sentinel',
      hosts: [
        { host: 's1', port: 26379 },
        { host: 's2', port: 26380 },
        { host: '::1', port: 1 }
      ],
      tls: false,
      login: { password: 'pw' },
      primary: 'main',
      db: 0,
      sentinelLogin: {},
      sentinelTls: false
    }
  ],
  [
    'rediss+sentinel://ada:pw@s1/my%20primary/2?sentinel_username=watch&sentinel_password=p%26w&sentinel_tls=0',
    {
      kind: 'sentinel',
      hosts: [{ host: 's1', port: 26379 }],
      tls: true,
      login: { username: 'ada', password: 'pw' },
      primary: 'my primary',
      db: 2,
      sentinelLogin: { username: 'watch', password: 'p&w' },
      sentinelTls: false
    }
  ],
  ['rediss-sentinel://s1/main', expect.objectContaining({ tls: true, sentinelTls: true })],
  [
    'redis-cluster://:pw@n1:7000,n2',
    {
      kind: 'cluster',
      hosts: [
        { host: 'n1', port: 7000 },
        { host: 'n2', port: 6379 }
      ],
      tls: false,
      login: { password: 'pw' }
    }
  ],
  ['rediss+cluster://n1/0', expect.objectContaining({ kind: 'cluster', tls: true })]
])('%s is understood', (url, address) => {
  expect(readRedisAddress(url)).toEqual(address)
})

test.each([
  ['localhost:6379', 'must have the form'],
  ['http://localhost', 'must have the form'],
  ['redis-ring://a-secret@h', 'must have the form'],
  ['redis://:a-secret#@h', 'must have the form'],
  ['redis://', 'must name each server'],
  ['redis://:a-secret/1@h', 'must name each server'],
  ['redis://:a-secret@h:port', 'must name each server'],
  ['redis://:a-secret@h:0', 'must name each server'],
  ['redis://:a-secret@h:65536', 'must name each server'],
  ['redis-cluster://h1,,h2', 'must name each server'],
  ['redis://fd00::1', 'must name each server'],
  ['redis://:a-secret%@h', 'has a % that begins no'],
  ['redis://:a-secret@h1,h2', 'names several hosts'],
  ['redis://:a-secret@h/main', 'can name a database only by its number'],
  ['redis://:a-secret@h/1/2', 'can have only the number of a database'],
  ['redis://:a-secret@h?password=a-secret', 'takes no parameter'],
  ['redis://:a-secret?@h', 'must name each server'],
  ['redis-cluster://:a-secret@h/1', 'cannot name a database'],
  ['redis-sentinel://:a-secret@h', 'must end with the name of the primary'],
  ['redis-sentinel://:a-secret@h/main/1/2', 'must end with the name of the primary'],
  ['redis-sentinel://h/main?sentinel_pasword=a-secret', 'takes no parameter'],
  ['redis-sentinel://h/main?sentinel_tls=a-secret', 'has a sentinel_tls that is neither 0 nor 1']
])('%s is refused with words that name the setting and no secret', (url, words) => {
  const refusal = (() => {
    try {
      return JSON.stringify(readRedisAddress(url))
    } catch (error) {
      return (error as Error).message
    }
  })()
  expect(refusal).toContain(`REDIS_URL ${words}`)
  expect(refusal).not.toContain('a-secret')
})
