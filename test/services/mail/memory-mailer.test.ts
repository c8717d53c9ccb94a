// What becomes of a mail: taken, refused, put off, given up.
import { describe, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { link, mailBench, mailTo, quick, RECIPIENT, SENDER } from '../../support/receivers/mail-bench.js'
import { headerOf, readMail, startMailServer } from '../../support/receivers/mail-server.js'

const { mailer, lines, server, talker } = mailBench()

describe('with an SMTP server', () => {
  test('a mail arrives with both parts, for its one recipient', async () => {
    const { url, deliveries } = await server()
    mailer(url).send(mailTo())
    await eventually(() => lines('info').length === 1)
    expect(deliveries).toMatchObject([{ from: 'no-reply@jobs.example.org', to: [RECIPIENT] }])
    const mail = await readMail(deliveries[0]!.raw)
    expect(mail.defects).toEqual([])
    expect(mail.text.split('\n')).toContain(link)
    expect(mail.tags).toContainEqual(['a', { href: link }])
    expect(headerOf(mail, 'From')).toEqual([SENDER])
    expect(headerOf(mail, 'To')).toEqual([RECIPIENT])
    expect(headerOf(mail, 'Subject')).toEqual(['Invitation to the team "Chemistry"'])
    // Out-of-office answers stay away.
    expect(headerOf(mail, 'Auto-Submitted')).toEqual(['auto-generated'])
    expect(lines('info')).toMatchObject([{ domain: 'people.example.org', msg: 'mail sent', tries: 1 }])
  })

  test('a crowd of mails takes few connections, and none is lost or doubled', async () => {
    const { url, deliveries, connections } = await server()
    const one = mailer(url)
    for (let index = 0; index < 100; index++) one.send(mailTo(`p${index}@example.org`))
    await eventually(() => deliveries.length === 100)
    expect(new Set(deliveries.map(({ to }) => to.join())).size).toBe(100)
    expect(connections.count).toBeLessThanOrEqual(4)
  })
})

describe('hostile headers', () => {
  test('a subject with line ends is one header, and adds no recipient', async () => {
    const { url, deliveries } = await server()
    const subject = `Hello\r\nBcc: everybody@example.org\r\n\r\n<script>${'x'.repeat(100_000)}`
    mailer(url).send(mailTo(RECIPIENT, { subject }))
    await eventually(() => deliveries.length === 1)
    expect(deliveries[0]!.to).toEqual([RECIPIENT])
    const mail = await readMail(deliveries[0]!.raw)
    expect(headerOf(mail, 'Bcc')).toEqual([])
    const [first, ...others] = headerOf(mail, 'Subject')
    expect([first!.length, others]).toEqual([200, []])
    expect(first).toMatch(/^Hello Bcc: everybody@example\.org <script>x+…$/)
    expect(mail.text).toContain(link)
  })

  test.each([
    'a@example.org\r\nBcc: everybody@example.org',
    'a@example.org, b@example.org',
    'a@example.org; b@example.org',
    'Ada <a@example.org>',
    'a@example.org> RCPT TO:<b@example.org',
    'friends: a@example.org;',
    'a@b@example.org',
    '"a b"@example.org',
    'a@example.org\u0000',
    'grace.hopper',
    ''
  ])('%j is not one address: nothing is sent', async (to) => {
    const { url, connections, messages } = await server()
    const one = mailer(url)
    one.send(mailTo(to))
    expect(lines('error')).toMatchObject([{ domain: '(no address)', msg: expect.stringContaining('not one address') }])
    await one.close(1_000)
    expect([connections.count, messages()]).toEqual([0, 0])
  })

  test('line ends around an address are taken off', async () => {
    const { url, deliveries } = await server()
    mailer(url).send(mailTo(`${RECIPIENT}\r\n`))
    await eventually(() => deliveries.length === 1)
    expect(deliveries[0]!.to).toEqual([RECIPIENT])
  })
})

describe('a server that does not take the mail', () => {
  test('because it is not there yet: the mail arrives once it is, once', async () => {
    const gone = await startMailServer()
    await gone.close()
    const port = Number(gone.address.split(':')[1])
    mailer(gone.url, null, { ...quick, pausesMs: [50, 200, 400, 800] }).send(mailTo())
    const refused = await eventually(() => lines('warn')[0] ?? null)
    expect(refused).toMatchObject({ tries: 1, pauseMs: 50, message: `connect ECONNREFUSED ${gone.address}` })
    const { deliveries, messages } = await server({ port })
    await eventually(() => lines('info').length === 1)
    expect([deliveries.length, messages()]).toEqual([1, 1])
  })

  test('for now gets it again', async () => {
    const answer = (index: number) => (index < 2 ? { code: 451, text: '4.7.1 come back later' } : null)
    const { url, deliveries, messages } = await server({ answer })
    mailer(url).send(mailTo())
    await eventually(() => deliveries.length === 1)
    expect(messages()).toBe(3)
    expect(lines('warn')).toMatchObject([
      { tries: 1, pauseMs: 20, reply: '451 4.7.1' },
      { tries: 2, pauseMs: 40, reply: '451 4.7.1' }
    ])
  })

  test('after all, but dies before it says so, can tell by the id that it is the same mail again', async () => {
    const ids: string[] = []
    const dying = await talker((socket) => {
      // Takes the mail, and dies before it says so.
      let inData = false
      let data = ''
      socket.write('220 ready\r\n')
      socket.on('data', (chunk) => {
        if (inData) {
          data += chunk.toString()
          if (!data.endsWith('\r\n.\r\n')) return
          ids.push(/^Message-ID: (.+)\r$/m.exec(data)![1]!)
          return socket.destroy()
        }
        inData = chunk.toString().startsWith('DATA')
        socket.write(inData ? '354 go on\r\n' : '250 fine\r\n')
      })
    })
    mailer(dying.url).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect(ids).toHaveLength(5)
    expect(new Set(ids).size).toBe(1)
  })

  test('is tried five times with growing pauses, and then the mail is given up', async () => {
    const { url, messages } = await server({ answer: () => ({ code: 451, text: 'not today' }) })
    mailer(url).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect(messages()).toBe(5)
    expect(lines('warn').map(({ pauseMs }) => pauseMs)).toEqual([20, 40, 60, 80])
    expect(lines('error')).toMatchObject([{ domain: 'people.example.org', tries: 5, reply: '451' }])
  })

  test('for good is not asked again, and what it quotes is not logged', async () => {
    const text = `5.7.1 <${RECIPIENT}> Welcome ${link} looks like advertising`
    const { url, messages } = await server({ answer: () => ({ code: 554, text }) })
    mailer(url).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect(messages()).toBe(1)
    expect(lines('error')).toMatchObject([{ tries: 1, reply: '554 5.7.1', command: 'DATA' }])
  })

  test('for one recipient still gets the mails of the others', async () => {
    const { url, deliveries } = await server({
      onRcptTo: ({ address }, _session, done) =>
        done(address === RECIPIENT ? Object.assign(new Error(`no ${address}`), { responseCode: 550 }) : null)
    })
    const one = mailer(url)
    for (const to of ['a@example.org', RECIPIENT, 'b@example.org']) one.send(mailTo(to))
    await eventually(() => deliveries.length === 2 && lines('error').length === 1)
    expect(deliveries.map(({ to }) => to[0]).sort()).toEqual(['a@example.org', 'b@example.org'])
  })

  test('because it says nothing is left after the time for that', async () => {
    const silent = await talker(() => {})
    mailer(silent.url).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect(lines('error')).toMatchObject([{ tries: 5, code: 'ETIMEDOUT' }])
    expect(silent.connections()).toBe(5)
    await eventually(() => silent.open() === 0)
  })

  test('because it hangs up before a word gets no more than five calls', async () => {
    const rude = await talker((socket) => socket.end())
    mailer(rude.url).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect([rude.connections(), lines('error')[0]!.tries]).toEqual([5, 5])
  })

  test('because it never comes to an end is left after the time for one try', async () => {
    const trickle = await talker((socket) => {
      socket.write('220 ready\r\n')
      // Never silent for long: a greeting of endless lines.
      const more = setInterval(() => socket.write('250-and\r\n'), 50)
      socket.on('close', () => clearInterval(more))
    })
    mailer(trickle.url, null, { pausesMs: [20], silenceMs: 300, tryMs: 600 }).send(mailTo())
    await eventually(() => lines('error').length === 1)
    expect(lines('error')).toMatchObject([{ tries: 2, code: 'EABORT' }])
    await eventually(() => trickle.open() === 0)
  })
})

describe('a bound', () => {
  test('of 1,000 mails in memory, beyond which they are dropped and said so', async () => {
    const silent = await talker(() => {})
    const one = mailer(silent.url, null, { ...quick, silenceMs: 10_000 })
    for (let index = 0; index < 1_003; index++) one.send(mailTo())
    expect(lines('error')).toHaveLength(3)
    expect(lines('error')[0]).toMatchObject({ waiting: 1_000, msg: expect.stringContaining('too many wait') })
    await eventually(() => silent.open() === 4)
    expect(silent.connections()).toBe(4)
  })

  test('that counts what waits in a pause, and has room again when mails are gone', async () => {
    let refusing = true
    const { url, deliveries } = await server({
      onMailFrom: (_address, _session, done) =>
        done(refusing ? Object.assign(new Error('later'), { responseCode: 451 }) : null)
    })
    const one = mailer(url, null, { ...quick, pausesMs: [10_000, 10_000, 10_000, 10_000] })
    for (let index = 0; index < 1_000; index++) one.send(mailTo())
    await eventually(() => lines('warn').length === 1_000, { timeoutMs: 20_000 })
    one.send(mailTo())
    expect(lines('error')).toHaveLength(1)
    refusing = false
    // Nobody waits out a pause when the process ends.
    await one.close(40_000)
    expect(deliveries).toHaveLength(1_000)
  })
})

describe('closing', () => {
  test('waits for what is under way, and takes no more', async () => {
    const { url, deliveries } = await server()
    const one = mailer(url)
    for (let index = 0; index < 20; index++) one.send(mailTo())
    const closed = one.close(10_000)
    one.send(mailTo('late@example.org'))
    await closed
    expect(deliveries).toHaveLength(20)
    expect(lines('error')).toMatchObject([{ domain: 'example.org', msg: 'mail dropped: the process ends' }])
  })

  test('waits no longer than the grace, tells what is lost, and leaves no connection', async () => {
    const silent = await talker(() => {})
    const one = mailer(silent.url, null, { ...quick, silenceMs: 20_000, tryMs: 20_000 })
    for (let index = 0; index < 6; index++) one.send(mailTo())
    await eventually(() => silent.open() === 4)
    const began = performance.now()
    await Promise.all([one.close(200), one.close(60_000)])
    const took = performance.now() - began
    expect(took).toBeGreaterThanOrEqual(190)
    expect(took).toBeLessThan(2_000)
    expect(lines('error')).toHaveLength(6)
    await eventually(() => silent.open() === 0)
    expect(lines('error')).toHaveLength(6)
  })

  test('tries a mail in its pause once more, and does not wait for another', async () => {
    const { url, messages } = await server({ answer: () => ({ code: 451, text: 'later' }) })
    const one = mailer(url, null, { ...quick, pausesMs: [60_000, 60_000, 60_000, 60_000] })
    one.send(mailTo())
    await eventually(() => lines('warn').length === 1)
    await one.close(10_000)
    expect(messages()).toBe(2)
    expect(lines('error')).toMatchObject([{ tries: 2, reply: '451' }])
  })

  test('with nothing under way is over at once, and lets the connections go', async () => {
    const { url, deliveries, open } = await server()
    const one = mailer(url)
    one.send(mailTo())
    await eventually(() => deliveries.length === 1 && lines('info').length === 1)
    expect(open()).toBe(1)
    await one.close(60_000)
    await eventually(() => open() === 0)
    await mailer(null).close(60_000)
  })
})
