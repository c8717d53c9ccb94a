// The ways that a mail takes, by the settings that choose them.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import tlsOptions from 'smtp-server/lib/tls-options.js'
import { eventually } from '../../support/eventually.js'
import { LOCAL_PART, link, mailBench, mailTo, quick, RECIPIENT } from '../../support/receivers/mail-bench.js'
import { headerOf, readMail } from '../../support/receivers/mail-server.js'

const { mailer, lines, logged, server, closeLater } = mailBench()

describe('SMTP_URL', () => {
  test('user and password of the URL are shown to it, decoded; a wrong one is not tried again nor logged', async () => {
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
    mailer(url('p%40ss%3Aword%2F1')).send(mailTo())
    await eventually(() => deliveries.length === 1)
    expect(deliveries[0]!.secure).toBe(true)
    mailer(url('wrong-secret')).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect(seen).toEqual([
      ['m@il', 'p@ss:word/1'],
      ['m@il', 'wrong-secret']
    ])
    expect(lines('error')).toMatchObject([{ code: 'EAUTH', reply: '535', tries: 1 }])
    expect(JSON.stringify(logged())).not.toMatch(/wrong-secret|p@ss/)
  })

  test.each([
    ['TLS from the first byte', true],
    ['STARTTLS', false]
  ])('%s: a certificate that nobody vouches for gets no mail, unless the URL says so', async (_what, secure) => {
    const { key, cert } = tlsOptions()
    const { address, deliveries } = await server({ secure, key, cert, disabledCommands: ['AUTH'] })
    const url = `${secure ? 'smtps' : 'smtp'}://${address}`
    mailer(url).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect(lines('error')).toMatchObject([{ tries: 5, message: expect.stringContaining('certificate') }])
    expect(deliveries).toEqual([])
    mailer(`${url}?tls.rejectUnauthorized=false`).send(mailTo())
    await eventually(() => deliveries.length === 1)
    expect(deliveries[0]!.secure).toBe(true)
  })

  test('where the URL requires TLS, a server without it gets no mail', async () => {
    const { url, deliveries, messages } = await server()
    mailer(`${url}?requireTLS=true`).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect([deliveries.length, messages()]).toEqual([0, 0])
  })

  test('the URL cannot turn on the log of a conversation, nor the pool off', async () => {
    const { url, deliveries, connections } = await server()
    const written: string[] = []
    const { log } = console
    console.log = (...words: unknown[]) => written.push(words.join(' '))
    try {
      const one = mailer(`${url}?logger=true&debug=true&pool=false&transactionLog=true`)
      for (let index = 0; index < 10; index++) one.send(mailTo())
      await eventually(() => deliveries.length === 10)
    } finally {
      console.log = log
    }
    expect(written).toEqual([])
    expect(connections.count).toBeLessThanOrEqual(4)
  })
})

describe('with a folder', () => {
  const folder = async () => {
    const path = await mkdtemp(join(tmpdir(), 'mails-'))
    closeLater({ close: () => rm(path, { recursive: true, force: true }) })
    return path
  }

  test('every mail becomes one file that a mail program reads, for the owner only, named by time alone', async () => {
    const path = join(await folder(), 'made', 'here')
    const one = mailer(null, path)
    for (let index = 0; index < 12; index++) one.send(mailTo(`${LOCAL_PART}+${index}@example.org`))
    await one.close(10_000)
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

  test('a subject with line ends stays one header there too', async () => {
    const path = await folder()
    const one = mailer(null, path)
    one.send(mailTo(RECIPIENT, { subject: 'Hello\r\nBcc: everybody@example.org' }))
    await one.close(10_000)
    const [name] = await readdir(path)
    const mail = await readMail(await readFile(join(path, name!)))
    expect([headerOf(mail, 'Bcc'), headerOf(mail, 'Subject')]).toEqual([[], ['Hello Bcc: everybody@example.org']])
  })

  test('a folder that was removed is made again', async () => {
    const path = await folder()
    const one = mailer(null, path)
    await rm(path, { recursive: true })
    one.send(mailTo())
    await eventually(async () => (await readdir(path)).some((name) => name.endsWith('.eml')))
  })

  test('a place where nothing can be written is tried again, and leaves nothing half done', async () => {
    const path = await folder()
    const one = mailer(null, path)
    await rm(path, { recursive: true })
    await writeFile(path, 'a file')
    one.send(mailTo())
    await eventually(() => lines('warn').length >= 1)
    expect(lines('warn')[0]).toMatchObject({ code: 'EEXIST', domain: 'people.example.org' })
    await rm(path)
    await eventually(() => lines('info').length === 1)
    expect((await readdir(path)).filter((name) => !name.endsWith('.eml'))).toEqual([])
  })

  test('an SMTP server comes first', async () => {
    const path = await folder()
    const { url, deliveries } = await server()
    mailer(url, path).send(mailTo())
    await eventually(() => deliveries.length === 1)
    expect(await readdir(path)).toEqual([])
  })

  test('a setting that is no folder is refused by name', async () => {
    const path = join(await folder(), 'file')
    await writeFile(path, '')
    expect(() => mailer(null, path)).toThrow('MAIL_DIR must be a folder that can be written to')
  })
})

test('without either, that is said once, and every mail is dropped with a line', () => {
  const one = mailer(null)
  expect(lines('warn')).toMatchObject([{ msg: expect.stringContaining('set SMTP_URL, or MAIL_DIR') }])
  for (let index = 0; index < 2; index++) one.send(mailTo())
  expect(logged().slice(1)).toMatchObject([
    { domain: 'people.example.org', subject: 'Invitation to the team "Chemistry"' },
    { domain: 'people.example.org', msg: expect.stringContaining('mail dropped') }
  ])
})

test.each([
  'https://mail.example.org',
  'mail.example.org:25',
  'smtp://',
  'smtp:mail.example.org',
  'smtp://user:sec ret@host:notaport',
  'direct:mail.example.org'
])('SMTP_URL %s is refused by name, without its value', (url) => {
  expect(() => mailer(url)).toThrow(
    new Error('SMTP_URL must be smtp://host:port or smtps://host:port, with user:password@ percent-encoded')
  )
})

test.each(['', 'nobody', 'a@example.org, b@example.org', 'Ada <a@b@c>'])('the sender %j is refused by name', (from) => {
  expect(() => mailer(null, null, quick, from)).toThrow(/^MAIL_FROM must be one address/)
})
