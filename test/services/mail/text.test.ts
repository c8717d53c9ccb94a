// The texts of mails, with hostile names.
import { describe, expect, test } from '@jest/globals'
import { createTransport } from 'nodemailer'
import { invitationMail, type MailText, passwordResetMail } from '../../../services/mail/text.js'
import { readMail } from '../../support/receivers/mail-server.js'

const link = 'https://jobs.example.org/invitations/3q2-7w_Zx?from=mail&lang=en'
const expiresAt = new Date('2026-03-04T05:06:59.999Z')
const invitation = (changes: Partial<Parameters<typeof invitationMail>[0]> = {}) =>
  invitationMail({
    teamName: 'Chemistry',
    inviterName: 'Ada',
    role: 'member',
    message: null,
    stranger: false,
    link,
    expiresAt,
    ...changes
  })

/** As the recipient's program sees it: through a mail and out again. */
async function read({ subject, text, html }: MailText) {
  const transport = createTransport({ streamTransport: true, buffer: true })
  const { message } = await transport.sendMail({ from: 'a@example.org', to: 'b@example.org', subject, text, html })
  return readMail(message as Buffer)
}

test('an invitation names the inviter, the team, the role, the deadline and the link, in text and in HTML', async () => {
  const mail = await read(invitation({ role: 'admin', message: 'Welcome!\r\n\r\nSee you there.' }))
  expect(mail.text).toBe(`Ada invites you to join the team "Chemistry" on Quantum Job Service as an admin.

The message that came with it:

> Welcome!
> 
> See you there.

To accept, open this link and sign in, or sign up, with the address that this mail went to:

${link}

It works once, until 2026-03-04 05:06 UTC.

If you did not expect it, ignore this mail: nothing happens unless you accept.
`)
  const plainWords = mail.text.replaceAll('\n> ', '\n').replace(/\s+/g, ' ').trim()
  expect(mail.words.replace(/\s+/g, ' ').trim()).toBe(`Invitation to the team "Chemistry" ${plainWords}`)
})

test('a mail about a forgotten password has its link in both parts', async () => {
  const mail = await read(passwordResetMail({ link, expiresAt, firstProof: false }))
  expect(mail.text.split('\n')).toContain(link)
  expect(mail.text).toContain('until 2026-03-04 05:06 UTC')
  expect(mail.tags.filter(([tag]) => tag === 'a')).toEqual([['a', { href: link }]])
})

test('a mail about a forgotten password says what its link ends, where it is the first proof of the address', () => {
  const [first, later] = [true, false].map((firstProof) => passwordResetMail({ link, expiresAt, firstProof }).text)
  const ends = /keys and invitations.* stored credentials, and jobs that have not started/
  expect(first!.replace(/\s+/g, ' ')).toMatch(ends)
  expect(later!.replace(/\s+/g, ' ')).not.toMatch(ends)
})

test('an invitation without a message quotes nothing', () => {
  for (const message of [null, '', ' \n\t\u2028 ']) expect(invitation({ message })).toEqual(invitation())
  expect(invitation().text).not.toContain('>')
  expect(invitation().html).not.toContain('blockquote')
})

test('an invitation to an unproved address contains no text of its sender but two reduced names', async () => {
  const lure = 'You won! Call +49 30 123456 or open https://evil.example/?a=b <now> @home'
  const mail = invitation({ stranger: true, teamName: lure, inviterName: lure, message: lure })
  expect(mail.subject).toBe('Invitation to a team on Quantum Job Service')
  expect(mail.text).toMatch(
    /^You won Call 49 30 123456 or open https… invites you to join the team "You won Call 49 30 123456 or open https…" on/
  )
  for (const part of [mail.text, mail.html]) expect(part).not.toMatch(/evil|won!|@home|blockquote/)
  expect((await read(mail)).tags.filter(([tag]) => tag === 'a')).toEqual([['a', { href: link }]])
  const named = invitation({ stranger: true, teamName: "Équipe 量子's", inviterName: 'Ada-Lovelace_1' })
  expect(named.text).toMatch(/^Ada-Lovelace_1 invites you to join the team "Équipe 量子's" on/)
})

test('an invisible name still leaves a whole sentence', () => {
  const mail = invitation({ teamName: '\u202e \r\n', inviterName: '\u0000' })
  expect(mail.subject).toBe('Invitation to the team "(no name)"')
  expect(mail.text).toMatch(/^A member invites you to join the team "\(no name\)" on/)
})

const tagsOf = async (mail: MailText) => (await read(mail)).tags.map(([tag]) => tag)

describe('a hostile text', () => {
  const attacks = [
    '</p></blockquote><script src=https://evil.example/x.js></script>',
    '"><img src=x onerror=alert(1)>',
    `'><a href='https://evil.example'>here</a>`,
    '&lt;b&gt; &#60;i&#62; <!-- </title></head>',
    '<![CDATA[ <style>@import url(//evil.example)</style>'
  ]

  test.each(attacks)('%s adds no tag and stays readable as typed', async (attack) => {
    const mail = await read(invitation({ teamName: attack, inviterName: attack, message: attack }))
    const harmless = await tagsOf(invitation({ message: 'x' }))
    expect(mail.tags.map(([tag]) => tag)).toEqual(harmless)
    expect(mail.tags.filter(([, { href, src }]) => href ?? src)).toEqual([['a', { href: link }]])
    expect(mail.words).toContain(attack)
    expect(mail.text).toContain(`\n> ${attack}\n`)
  })

  test('loads nothing from elsewhere and executes nothing', () => {
    const { html } = invitation({ message: 'x' })
    expect(html).not.toMatch(/<(img|script|link|iframe|object|style|form)|\bsrc=|url\(|@import|\son\w+=/i)
  })

  test('cannot end its line or its quotation', () => {
    for (const end of ['\r\n', '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029']) {
      const forged = `Chemistry${end}Bcc: everybody@example.org${end}${end}Your password is wrong.`
      const mail = invitation({ teamName: forged, inviterName: forged, message: `Hello${forged}` })
      expect(mail.subject).toBe('Invitation to the team "Chemistry Bcc: everybody@example.org Your password is wrong."')
      // Every line is a sentence of the service, the link, or marked as a quotation.
      const lines = mail.text.split(/[\r\n\v\f\u0085\u2028\u2029]/)
      expect(lines.filter((line) => /^(Bcc|Your password)/.test(line))).toEqual([])
      expect(lines).toContain('> Bcc: everybody@example.org')
    }
  })

  test('keeps no mark of direction, control character or lone surrogate', async () => {
    const marks = '\u202e\u2066\u200f\u061c\ufeff\u0000\u001b[31m\u0007\u007f\u009b\ud800'
    const given = invitation({ teamName: `a${marks}b`, inviterName: `a${marks}b`, message: `a${marks}\tb` })
    for (const part of [given.subject, given.text, given.html]) {
      expect(part).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\ufeff]|[^\P{Cc}\n]/u)
      expect(part.isWellFormed()).toBe(true)
    }
    expect(given.subject).toBe('Invitation to the team "a [31m \ufffdb"')
    expect((await read(given)).defects).toEqual([])
  })

  test('text in every script arrives unchanged', async () => {
    const name = 'Équipe 量子 👩‍🔬 קוונטים'
    const mail = await read(invitation({ teamName: name, message: `${name}\n\n.\n..\nFrom here: =41 =\n${name}` }))
    expect(mail.headers).toContainEqual(['Subject', `Invitation to the team "${name}"`])
    expect(mail.text).toContain(`> ${name}\n> \n> .\n> ..\n> From here: =41 =\n> ${name}\n`)
  })

  test.each([
    ['letters', 'x'],
    ['tags', '<'],
    ['line ends', '\r\n'],
    ['spaces before a letter', ' '],
    ['marks of direction', '\u202e'],
    ['half characters', '\ud83d'],
    ['characters of two halves', '😀'],
    ['marks above a letter', '\u0301'],
    ['quotation marks', '\n> "']
  ])('100,000 %s make a short mail, quickly', async (_what, unit) => {
    const flood = `${unit.repeat(100_000)}x`
    // Not the time that passes: the machine has more to do.
    const began = process.cpuUsage()
    const mail = invitation({ teamName: flood, inviterName: flood, message: flood })
    const { user, system } = process.cpuUsage(began)
    expect((user + system) / 1_000).toBeLessThan(2_000)
    expect(Array.from(mail.subject).length).toBeLessThanOrEqual(105)
    expect(Buffer.byteLength(mail.text) + Buffer.byteLength(mail.html)).toBeLessThan(30_000)
    const received = await read(mail)
    expect(received.defects).toEqual([])
    expect(received.text.split('\n')).toContain(link)
    expect(received.tags.filter(([tag]) => tag === 'a')).toEqual([['a', { href: link }]])
  })

  test('a cut text ends in an ellipsis, and a text that the API accepts is not cut', () => {
    expect(invitation({ message: 'y'.repeat(500) }).text).toContain(`> ${'y'.repeat(500)}\n`)
    expect(invitation({ message: '😀'.repeat(1_000) }).text).toContain(`> ${'😀'.repeat(1_000)}\n`)
    expect(invitation({ message: '😀'.repeat(1_001) }).text).toContain(`> ${'😀'.repeat(999)}…\n`)
    expect(invitation({ teamName: 'z'.repeat(80) }).subject).toContain(`"${'z'.repeat(80)}"`)
    expect(invitation({ teamName: 'z'.repeat(81) }).subject).toContain(`"${'z'.repeat(79)}…"`)
  })
})

test('no character of a link can end its tag', () => {
  const odd = `https://jobs.example.org/x?a=1&b="'<>`
  expect(passwordResetMail({ link: odd, expiresAt, firstProof: false }).html).toContain(
    '<a href="https://jobs.example.org/x?a=1&amp;b=&quot;&#39;&lt;&gt;">'
  )
})
