// Which settings send a mail to a server, and which to a folder.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import tlsOptions from 'smtp-server/lib/tls-options.js'
import { CONNECTIONS, LOCAL_PART, link, mailBench, mailTo, RECIPIENT } from '../../support/receivers/mail-bench.js'
import { headerOf, readMail } from '../../support/receivers/mail-server.js'

const { client, server, closeLater } = mailBench()

describe('SMTP_URL', () => {
  test('its user and password reach the server decoded, and a refusal of them never quotes the password', async () => {
    const seen: unknown[] = []
    const { key, cert } = tlsOptions()
    const { address, deliveries } = await server({
      secure: true,
      key,
      cert,
      authOptional: false,
      onAuth: ({ username, password }, _session, done) => {
        seen.push([username, password])
        if (password === 'p@ss:word/1') done(null, { user: username })
        else done(Object.assign(new Error(`no such login: ${password}`), { responseCode: 535 }))
      }
    })
    const url = (password: string) => `smtps://m%40il:${password}@${address}?tls.rejectUnauthorized=false`
    expect(await client(url('p%40ss%3Aword%2F1'))!.send(mailTo())).toEqual({ outcome: 'sent' })
    expect(deliveries).toMatchObject([{ secure: true }])
    const refused = await client(url('wrong-secret'))!.send(mailTo())
    expect(seen).toEqual([
      ['m@il', 'p@ss:word/1'],
      ['m@il', 'wrong-secret']
    ])
    expect(refused).toMatchObject({ outcome: 'refused', reason: { code: 'EAUTH', reply: '535' } })
    expect(JSON.stringify(refused)).not.toMatch(/wrong-secret|p@ss/)
  })

  test.each([
    ['TLS from the first byte', true],
    ['STARTTLS', false]
  ])(
    'with %s, a server with an unverified certificate gets no mail unless the URL allows it',
    async (_what, secure) => {
      const { key, cert } = tlsOptions()
      const { address, deliveries } = await server({ secure, key, cert, disabledCommands: ['AUTH'] })
      const url = `${secure ? 'smtps' : 'smtp'}://${address}`
      expect(await client(url)!.send(mailTo())).toMatchObject({
        outcome: 'failed',
        reason: { message: expect.stringContaining('certificate') }
      })
      expect(deliveries).toEqual([])
      expect(await client(`${url}?tls.rejectUnauthorized=false`)!.send(mailTo())).toEqual({ outcome: 'sent' })
      expect(deliveries).toMatchObject([{ secure: true }])
    }
  )

  test('with requireTLS=true, a server without TLS gets no mail', async () => {
    const { url, deliveries, messages } = await server()
    expect(await client(`${url}?requireTLS=true`)!.send(mailTo())).toMatchObject({ outcome: 'refused' })
    expect([deliveries.length, messages()]).toEqual([0, 0])
  })

  test('it can turn on no log of the conversation, and cannot turn off the pool of connections', async () => {
    const { url, deliveries, connections } = await server()
    const written: string[] = []
    const { log } = console
    console.log = (...words: unknown[]) => written.push(words.join(' '))
    try {
      const one = client(`${url}?logger=true&debug=true&pool=false&transactionLog=true`)!
      await Promise.all(Array.from({ length: 10 }, () => one.send(mailTo())))
    } finally {
      console.log = log
    }
    expect(deliveries).toHaveLength(10)
    expect(written).toEqual([])
    expect(connections.count).toBeLessThanOrEqual(CONNECTIONS)
  })
})

describe('MAIL_DIR', () => {
  const folder = async () => {
    const path = await mkdtemp(join(tmpdir(), 'mails-'))
    closeLater({ close: () => rm(path, { recursive: true, force: true }) })
    return path
  }

  test('every mail becomes one file that a mail program reads, for its owner only, named by time alone', async () => {
    const path = join(await folder(), 'made', 'here')
    const one = client(null, path)!
    for (let index = 0; index < 12; index++) await one.send(mailTo(`${LOCAL_PART}+${index}@example.org`))
    const names = (await readdir(path)).sort()
    expect(names).toHaveLength(12)
    for (const name of names) expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-\d{6}-[0-9a-f]{8}\.eml$/)
    const raws = await Promise.all(names.map((name) => readFile(join(path, name))))
    // In the order of sending.
    expect(raws.map((raw) => /^To: .*\+(\d+)@/m.exec(raw.toString())![1])).toEqual(names.map((_, index) => `${index}`))
    expect(raws[0]!.toString()).not.toMatch(/[^\r]\n/)
    const mail = await readMail(raws[0]!)
    expect(mail.defects).toEqual([])
    expect(mail.text.split('\n').map((line) => line.trimEnd())).toContain(link)
    expect(mail.tags).toContainEqual(['a', { href: link }])
    expect((await stat(join(path, names[0]!))).mode & 0o777).toBe(0o600)
    expect((await stat(path)).mode & 0o777).toBe(0o700)
  })

  test('a subject with line ends stays one header in the file', async () => {
    const path = await folder()
    await client(null, path)!.send(mailTo(RECIPIENT, { subject: 'Hello\r\nBcc: everybody@example.org' }))
    const [name] = await readdir(path)
    const mail = await readMail(await readFile(join(path, name!)))
    expect([headerOf(mail, 'Bcc'), headerOf(mail, 'Subject')]).toEqual([[], ['Hello Bcc: everybody@example.org']])
  })

  test('a folder that was removed is created again', async () => {
    const path = await folder()
    const one = client(null, path)!
    await rm(path, { recursive: true })
    expect(await one.send(mailTo())).toEqual({ outcome: 'sent' })
    expect(await readdir(path)).toEqual([expect.stringMatching(/\.eml$/)])
  })

  test('a mail that cannot be written fails for now, and leaves no half-written file', async () => {
    const path = await folder()
    const one = client(null, path)!
    await rm(path, { recursive: true })
    await writeFile(path, 'a file')
    expect(await one.send(mailTo())).toMatchObject({ outcome: 'failed', reason: { code: 'EEXIST' } })
    await rm(path)
    expect(await one.send(mailTo())).toEqual({ outcome: 'sent' })
    expect((await readdir(path)).filter((name) => !name.endsWith('.eml'))).toEqual([])
  })

  test('an SMTP server comes first', async () => {
    const path = await folder()
    const { url, deliveries } = await server()
    await client(url, path)!.send(mailTo())
    expect(deliveries).toHaveLength(1)
    expect(await readdir(path)).toEqual([])
  })

  test('a path that is not a folder is refused by the name of its setting', async () => {
    const path = join(await folder(), 'file')
    await writeFile(path, '')
    expect(() => client(null, path)).toThrow('MAIL_DIR must be a folder that can be written to')
  })
})

test('without a server or a folder there is no mail client', () => {
  expect(client(null)).toBeNull()
})

test.each([
  'https://mail.example.org',
  'mail.example.org:25',
  'smtp://',
  'smtp:mail.example.org',
  'smtp://user:sec ret@host:notaport',
  'direct:mail.example.org'
])('SMTP_URL %s is refused by name, without its value', (url) => {
  expect(() => client(url)).toThrow(
    new Error('SMTP_URL must be smtp://host:port or smtps://host:port, with user:password@ percent-encoded')
  )
})

test.each(['', 'nobody', 'a@example.org, b@example.org', 'Ada <a@b@c>'])(
  'MAIL_FROM %j is refused by its name',
  (from) => {
    expect(() => client(null, null, {}, from)).toThrow(/^MAIL_FROM must be one address/)
  }
)
