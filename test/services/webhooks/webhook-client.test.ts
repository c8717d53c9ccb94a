// One request to a receiver: its signature, the statuses that accept it, and the addresses that it never reaches.
import type { LookupAddress } from 'node:dns'
import { afterEach, describe, expect, test } from '@jest/globals'
import { isPublicAddress, literalAddress, lookupOf, type Resolve } from '../../../services/webhooks/public-address.js'
import {
  createWebhookClient,
  newWebhookSecret,
  type WebhookClientOptions
} from '../../../services/webhooks/webhook-client.js'
import { deadAddress } from '../../support/api/api.js'
import { hang, type Receiver, type Reply, startReceiver, verified } from '../../support/receivers/webhook-receiver.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

const receiver = async (reply?: Reply): Promise<Receiver> => {
  const made = await startReceiver(reply)
  open.push(made)
  return made
}
const client = (options: Partial<WebhookClientOptions> = {}) => {
  const made = createWebhookClient({ allowPrivate: true, timeoutMs: 30_000, ...options })
  open.push(made)
  return made
}
const secret = newWebhookSecret()
const message = (url: string) => ({
  id: 'a-delivery',
  url,
  secret,
  payload: '{"type":"job.completed","umlaut":"\u00e4"}'
})
/** Resolves every name to these addresses, one list after the other, and counts the look-ups. */
const resolver = (...answers: string[][]): Resolve & { asked: string[] } => {
  const asked: string[] = []
  const resolve: Resolve = (hostname, _options, done) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]!
    asked.push(hostname)
    done(
      null,
      answer.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }))
    )
  }
  return Object.assign(resolve, { asked })
}

describe('a message', () => {
  test('arrives unchanged, with a signature that the reference library of Standard Webhooks accepts', async () => {
    const { url, received } = await receiver()
    expect(await client().send(message(url))).toEqual({ status: 204, error: null })
    const [got] = received
    expect([got!.method, got!.path, got!.body]).toEqual(['POST', '/hook', message(url).payload])
    expect(got!.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'a-delivery',
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/)
    })
    expect(verified(secret, got!).type).toBe('job.completed')
    expect(() => verified(newWebhookSecret(), got!)).toThrow('No matching signature')
    expect(() => verified(secret, { ...got!, body: got!.body.replace('completed', 'failed') })).toThrow('signature')
    const other = { ...got!, headers: { ...got!.headers, 'webhook-id': 'another' } }
    expect(() => verified(secret, other)).toThrow('signature')
  })

  test('is signed with a secret of 256 random bits and a recognisable prefix', () => {
    const secrets = Array.from({ length: 100 }, newWebhookSecret)
    expect(new Set(secrets).size).toBe(100)
    for (const one of secrets) {
      expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(Buffer.from(one.slice(6), 'base64')).toHaveLength(32)
    }
  })

  test('has a connection of its own, so that no unchecked address is used', async () => {
    const { url, received } = await receiver()
    const sender = client()
    await sender.send(message(url))
    await sender.send(message(url))
    expect(received.map(({ headers }) => headers.connection)).toEqual(['close', 'close'])
  })
})

describe('the response status', () => {
  test.each([200, 201, 202, 204, 299])('%i accepts the message', async (status) => {
    const { url } = await receiver((response) => response.writeHead(status).end())
    expect(await client().send(message(url))).toEqual({ status, error: null })
  })

  test.each([400, 404, 410, 429, 500, 503])('%i does not accept the message', async (status) => {
    const { url } = await receiver((response) => response.writeHead(status).end('secret text of theirs'))
    expect(await client().send(message(url))).toEqual({ status, error: `answered ${status}` })
  })

  test.each([301, 302, 303, 307, 308])(
    '%i does not accept the message, and its redirect is not followed',
    async (status) => {
      const target = await receiver()
      const { url } = await receiver((response) => response.writeHead(status, { location: target.url }).end())
      expect(await client().send(message(url))).toEqual({
        status,
        error: `answered ${status}; redirects are not followed`
      })
      expect(target.received).toEqual([])
    }
  )
})

describe('a receiver that', () => {
  test('never responds is given up at the time limit', async () => {
    const { url } = await receiver(hang)
    const began = performance.now()
    expect(await client({ timeoutMs: 200 }).send(message(url))).toEqual({
      status: null,
      error: 'no answer within 0.2 s'
    })
    expect(performance.now() - began).toBeLessThan(30_000)
  })

  test('sends endless headers is given up at the time limit', async () => {
    const { url } = await receiver((response) => {
      response.socket!.write('HTTP/1.1 200 OK\r\nx-a: ')
    })
    expect((await client({ timeoutMs: 200 }).send(message(url))).error).toBe('no answer within 0.2 s')
  })

  test('accepts the message and never ends its response has accepted it by the time limit', async () => {
    const { url } = await receiver((response) => {
      response.writeHead(200).write('and')
    })
    const began = performance.now()
    // The status has to arrive within it.
    expect(await client({ timeoutMs: 3_000 }).send(message(url))).toEqual({ status: 200, error: null })
    expect(performance.now() - began).toBeLessThan(30_000)
  })

  test('sends an endless response is read up to about 64 KiB', async () => {
    let sent = 0
    let ended = () => {}
    const over = new Promise<void>((resolve) => {
      ended = resolve
    })
    const { url } = await receiver((response) => {
      const block = Buffer.alloc(16 * 1024)
      const more = () => {
        do sent += block.length
        while (response.write(block))
        response.once('drain', more)
      }
      response.once('close', ended)
      response.writeHead(200)
      more()
    })
    expect(await client().send(message(url))).toEqual({ status: 200, error: null })
    await over
    // The difference is in the buffers of both sockets and was not read.
    expect(sent).toBeLessThan(16 * 1024 * 1024)
  })

  test('is not running is reported as a refused connection', async () => {
    expect(await client().send(message(`http://${await deadAddress()}/`))).toEqual({
      status: null,
      error: 'the receiver refused the connection'
    })
  })

  test('hangs up is reported as a broken connection', async () => {
    const { url } = await receiver((response) => response.socket!.destroy())
    expect(await client().send(message(url))).toEqual({ status: null, error: 'the receiver broke the connection' })
  })

  test('does not speak TLS at an https address gets no message', async () => {
    const { port } = await receiver()
    const { status, error } = await client().send(message(`https://127.0.0.1:${port}/`))
    expect([status, error]).toEqual([null, expect.stringMatching(/^could not be sent \(\w+\)$/)])
  })
})

describe('private addresses', () => {
  const spellings = [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
    '\uff11\uff12\uff17.0.0.1',
    '0',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '168.63.129.16',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:8.8.8.8]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::8.8.8.8]',
    '[64:ff9b:1::1]',
    '[100::1]',
    '[2001::1]',
    '[2001:db8::1]',
    '[2002:7f00:1::]',
    '[3fff::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]'
  ]

  test.each(spellings)('%s is never connected to', async (host) => {
    const address = literalAddress(new URL(`https://${host}/`))
    expect([address === null ? null : isPublicAddress(address)]).toEqual([false])
    const { port, received } = await receiver()
    const resolve = resolver(['127.0.0.1'])
    const outcome = await client({ allowPrivate: false, resolve }).send(message(`http://${host}:${port}/`))
    expect(outcome).toEqual({ status: null, error: 'not sent: the receiver has no public address' })
    expect([received, resolve.asked]).toEqual([[], []])
  })

  test.each(['8.8.8.8', '1.1.1.1', '172.15.0.1', '172.32.0.1', '100.63.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    }
  )

  test.each(['', 'example.org', '1.2.3', 'fe80::1%eth0', '8.8.8.8/32'])('"%s" is not a public address', (text) => {
    expect(isPublicAddress(text)).toBe(false)
  })

  test.each([[['127.0.0.1']], [['10.0.0.1', 'fd00::1']], [['::ffff:127.0.0.1']], [['64:ff9b::7f00:1']], [[]]])(
    'a name that leads to %j is never connected to',
    async (addresses) => {
      const { port, received } = await receiver()
      const resolve = resolver(addresses)
      const outcome = await client({ allowPrivate: false, resolve }).send(message(`http://hooks.example:${port}/`))
      expect(outcome).toEqual({ status: null, error: 'not sent: the receiver has no public address' })
      expect([received, resolve.asked]).toEqual([[], ['hooks.example']])
    }
  )

  test('a name with public and private addresses is reduced to the public ones, for every form of look-up', async () => {
    const lookup = lookupOf(isPublicAddress, resolver(['10.0.0.1', '8.8.8.8', '::1', '2606:4700::1111']))
    const ask = (all: boolean) =>
      new Promise((resolve, reject) =>
        lookup('hooks.example', { all }, (error, address, family) =>
          error ? reject(error) : resolve([address, family])
        )
      )
    expect(await ask(true)).toEqual([
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1111', family: 6 }
      ],
      undefined
    ])
    expect(await ask(false)).toEqual(['8.8.8.8', 4])
  })

  test('a name that becomes private between two messages gets no second message', async () => {
    const { port, received } = await receiver()
    const resolve = resolver(['8.8.8.8'], ['127.0.0.1'])
    const lookup = lookupOf(isPublicAddress, resolve)
    const first = await new Promise((answer) => lookup('hooks.example', {}, (_error, address) => answer(address)))
    expect(first).toBe('8.8.8.8')
    const outcome = await client({ allowPrivate: false, resolve }).send(message(`http://hooks.example:${port}/`))
    expect([outcome.error, received]).toEqual(['not sent: the receiver has no public address', []])
  })

  test('the checked address is the one connected to, with one look-up per message', async () => {
    const { port, received } = await receiver()
    // A second look-up would lead to a port without a listener.
    const resolve = resolver(['127.0.0.1'], ['127.0.0.2'])
    const outcome = await client({ resolve }).send(message(`http://hooks.example:${port}/`))
    expect([outcome.error, received[0]?.headers.host]).toEqual([null, `hooks.example:${port}`])
    expect(resolve.asked).toEqual(['hooks.example'])
  })

  test('a look-up that never ends is given up at the time limit', async () => {
    const began = performance.now()
    const outcome = await client({ resolve: () => {}, timeoutMs: 200 }).send(message('https://slow.example/'))
    expect(outcome).toEqual({ status: null, error: 'no answer within 0.2 s' })
    expect(performance.now() - began).toBeLessThan(30_000)
  })

  test('an unknown name is reported as such', async () => {
    const resolve: Resolve = (_hostname, _options, done) =>
      done(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), [])
    expect((await client({ resolve }).send(message('http://nobody.example/'))).error).toBe(
      'the name of the receiver is not known'
    )
  })
})
