// A real SMTP server that stores the mails it receives; an independent parser, that of Python's library, reads them back.
import { execFile } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface Delivery {
  /** From the envelope, which decides where a mail goes. */
  from: string
  to: string[]
  secure: boolean
  raw: Buffer
}

/** The server's reply to the n-th message (from 0); `null` for "250 OK". */
export type Answer = (index: number) => { code: number; text: string } | null

/** @param options.port 0 for any free one. Without `secure` it offers neither TLS nor a login, unless `options` ask for it. */
export async function startMailServer(options: SMTPServerOptions & { port?: number; answer?: Answer } = {}) {
  const { port = 0, answer = () => null, ...rest } = options
  const deliveries: Delivery[] = []
  const connections = { count: 0 }
  let messages = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: rest.secure ? [] : ['STARTTLS', 'AUTH'],
    onConnect: (_session, done) => {
      connections.count++
      done()
    },
    onData: (stream, { envelope, secure }, done) => {
      void buffer(stream).then((raw) => {
        const refusal = answer(messages++)
        if (refusal) return done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        deliveries.push({ from, to: envelope.rcptTo.map((recipient) => recipient.address), secure, raw })
        done()
      })
    },
    ...rest
  })
  // A client that hangs up in the middle is what some tests are about.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.server.address() as AddressInfo).port}`
  return {
    address,
    url: `smtp://${address}`,
    deliveries,
    connections,
    messages: () => messages,
    open: () => server.connections.size,
    close: () => new Promise<void>((resolve) => server.close(resolve))
  }
}

export interface ReadMail {
  headers: [string, string][]
  text: string
  html: string
  /** What the reader found wrong with the mail. */
  defects: string[]
  /** Of the HTML part: every start tag with its attributes, and the words between them. */
  tags: [string, Record<string, string>][]
  words: string
}

const reader = `
import sys, json, email, email.policy, html.parser
mail = email.message_from_binary_file(sys.stdin.buffer, policy=email.policy.default)
tags, words = [], []
class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes): tags.append([tag, dict(attributes)])
    def handle_data(self, data): words.append(data)
part = lambda kind: mail.get_body([kind]).get_content()
page = Page(); page.feed(part('html')); page.close()
print(json.dumps({
    'headers': [[name, str(value)] for name, value in mail.items()],
    'text': part('plain'), 'html': part('html'), 'tags': tags, 'words': ''.join(words),
    'defects': [repr(d) for p in mail.walk() for d in p.defects] + [repr(d) for v in mail.values() for d in v.defects],
}))
`

/** @throws when Python's reader finds no text or no HTML in it. */
export async function readMail(raw: Buffer): Promise<ReadMail> {
  const python = promisify(execFile)('.venv/bin/python', ['-c', reader], { timeout: 20_000, maxBuffer: 64 << 20 })
  python.child.stdin!.end(raw)
  return JSON.parse((await python).stdout) as ReadMail
}

export const headerOf = (mail: ReadMail, name: string): string[] =>
  mail.headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value)
