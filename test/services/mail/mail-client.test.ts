// One try to send a mail: its headers, and its outcome with each kind of server.
import { describe, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import {
  CONNECTIONS,
  link,
  mailBench,
  mailTo,
  quickSilence,
  quickTry,
  RECIPIENT,
  SENDER
} from '../../support/receivers/mail-bench.js'
import { headerOf, readMail, startMailServer } from '../../support/receivers/mail-server.js'

const { client, server, talker } = mailBench()

describe('a server that accepts mails', () => {
  test('gets both parts of a mail, for its one recipient', async () => {
    const { url, deliveries } = await server()
    expect(await client(url)!.send(mailTo(), 'mail-1')).toEqual({ outcome: 'sent' })
    expect(deliveries).toMatchObject([{ from: 'no-reply@jobs.example.org', to: [RECIPIENT] }])
    const mail = await readMail(deliveries[0]!.raw)
    expect(mail.defects).toEqual([])
    expect(mail.text.split('\n')).toContain(link)
    expect(mail.tags).toContainEqual(['a', { href: link }])
    expect(headerOf(mail, 'From')).toEqual([SENDER])
    expect(headerOf(mail, 'To')).toEqual([RECIPIENT])
    expect(headerOf(mail, 'Subject')).toEqual(['Invitation to the team "Chemistry"'])
    // The same in every try: a mail program can hide a second delivery.
    expect(headerOf(mail, 'Message-ID')).toEqual(['<mail-1@jobs.example.org>'])
    // Keeps out-of-office replies away.
    expect(headerOf(mail, 'Auto-Submitted')).toEqual(['auto-generated'])
  })

  test('gets many mails over few connections, each once', async () => {
    const { url, deliveries, connections } = await server()
    const one = client(url)!
    await Promise.all(Array.from({ length: 100 }, (_, index) => one.send(mailTo(`p${index}@example.org`))))
    expect(new Set(deliveries.map(({ to }) => to.join())).size).toBe(100)
    expect(deliveries).toHaveLength(100)
    expect(connections.count).toBeLessThanOrEqual(CONNECTIONS)
  })
})

describe('hostile headers', () => {
  test('a subject with line ends is one header, and adds no recipient', async () => {
    const { url, deliveries } = await server()
    const subject = `Hello\r\nBcc: everybody@example.org\r\n\r\n<script>${'x'.repeat(100_000)}`
    await client(url)!.send(mailTo(RECIPIENT, { subject }))
    expect(deliveries).toMatchObject([{ to: [RECIPIENT] }])
    const mail = await readMail(deliveries[0]!.raw)
    expect(headerOf(mail, 'Bcc')).toEqual([])
    const [first, ...others] = headerOf(mail, 'Subject')
    expect([first!.length, others]).toEqual([200, []])
    expect(first).toMatch(/^Hello Bcc: everybody@example\.org <script>x+…$/)
    expect(mail.text).toContain(link)
  })

  test.each([
    'a@example.org\r\nBcc: everybody@example.org',
    'a@example.org\r\n',
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
  ])('the recipient %j is not one address, and nothing is sent', async (to) => {
    const { url, connections, messages } = await server()
    expect(await client(url)!.send(mailTo(to))).toEqual({
      outcome: 'refused',
      reason: { message: 'the recipient is not one address' }
    })
    expect([connections.count, messages()]).toEqual([0, 0])
  })
})

describe('a server that does not accept a mail', () => {
  test('because nothing listens at its address makes the try fail, with that address as the reason', async () => {
    const gone = await startMailServer()
    await gone.close()
    expect(await client(gone.url)!.send(mailTo())).toMatchObject({
      outcome: 'failed',
      reason: { message: `connect ECONNREFUSED ${gone.address}` }
    })
  })

  test('for now makes the try fail, with the codes of its reply as the reason', async () => {
    const { url } = await server({ answer: () => ({ code: 451, text: '4.7.1 come back later' }) })
    expect(await client(url)!.send(mailTo())).toMatchObject({ outcome: 'failed', reason: { reply: '451 4.7.1' } })
  })

  test('for good gets no further try, and its quotes of the mail stay out of the reason', async () => {
    const text = `5.7.1 <${RECIPIENT}> Welcome ${link} looks like advertising`
    const { url } = await server({ answer: () => ({ code: 554, text }) })
    expect(await client(url)!.send(mailTo())).toEqual({
      outcome: 'refused',
      reason: { code: 'EMESSAGE', command: 'DATA', reply: '554 5.7.1' }
    })
  })

  test('because it dies before its confirmation makes the try fail', async () => {
    const dying = await talker((socket) => {
      let inData = false
      let data = ''
      socket.write('220 ready\r\n')
      socket.on('data', (chunk) => {
        if (inData) {
          data += chunk.toString()
          if (data.endsWith('\r\n.\r\n')) socket.destroy()
          return
        }
        inData = chunk.toString().startsWith('DATA')
        socket.write(inData ? '354 go on\r\n' : '250 fine\r\n')
      })
    })
    expect(await client(dying.url)!.send(mailTo())).toMatchObject({ outcome: 'failed' })
  })

  test('for one recipient still gets the mails of the others', async () => {
    const { url, deliveries } = await server({
      onRcptTo: ({ address }, _session, done) =>
        done(address === RECIPIENT ? Object.assign(new Error(`no ${address}`), { responseCode: 550 }) : null)
    })
    const one = client(url)!
    const sent = await Promise.all(['a@example.org', RECIPIENT, 'b@example.org'].map((to) => one.send(mailTo(to))))
    expect(sent.map(({ outcome }) => outcome)).toEqual(['sent', 'refused', 'sent'])
    expect(deliveries.map(({ to }) => to[0]).sort()).toEqual(['a@example.org', 'b@example.org'])
  })

  test('because it is silent is left after the limit for a silence', async () => {
    const silent = await talker(() => {})
    expect(await client(silent.url, null, quickSilence)!.send(mailTo())).toMatchObject({
      outcome: 'failed',
      reason: { code: 'ETIMEDOUT' }
    })
    await eventually(() => silent.open() === 0)
  })

  test('because it never finishes is left after the limit for one try', async () => {
    const trickle = await talker((socket) => {
      socket.write('220 ready\r\n')
      // Never silent for long: a greeting with endless lines.
      const more = setInterval(() => socket.write('250-and\r\n'), 50)
      socket.on('close', () => clearInterval(more))
    })
    expect(await client(trickle.url, null, quickTry)!.send(mailTo())).toMatchObject({
      outcome: 'failed',
      reason: { code: 'EABORT' }
    })
    await eventually(() => trickle.open() === 0)
  })

  test('is left at once when the sender stops', async () => {
    const silent = await talker(() => {})
    const stop = new AbortController()
    const sending = client(silent.url)!.send(mailTo(), 'one', stop.signal)
    await eventually(() => silent.open() === 1)
    stop.abort()
    expect(await sending).toMatchObject({ outcome: 'failed' })
    await eventually(() => silent.open() === 0)
  })
})
