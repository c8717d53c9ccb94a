// What the tests of mail have in common: mailers whose log is read, parts that are closed after each test, and a look into
// every log for what must never be there.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, expect } from '@jest/globals'
import { pino } from 'pino'
import { createMailer, type MailTimes } from '../../../services/mail/memory-mailer.js'
import type { Mail } from '../../../services/mail/message.js'
import { invitationMail } from '../../../services/mail/text.js'
import { startMailServer } from './mail-server.js'

const TOKEN = 'tkn-7f3a9c'
const MESSAGE = 'Welcome among us'
export const LOCAL_PART = 'grace.hopper'
export const RECIPIENT = `${LOCAL_PART}@people.example.org`
export const SENDER = 'Quantum Job Service <no-reply@jobs.example.org>'
export const link = `https://jobs.example.org/invitations/${TOKEN}`
export const quick: MailTimes = { pausesMs: [20, 40, 60, 80], silenceMs: 300, tryMs: 1_000 }

export const mailTo = (to = RECIPIENT, changes: Partial<Mail> = {}): Mail => ({
  to,
  ...invitationMail({
    teamName: 'Chemistry',
    inviterName: 'Ada',
    role: 'member',
    message: MESSAGE,
    link,
    expiresAt: new Date('2026-03-04T05:06:07Z')
  }),
  ...changes
})

const levels = { info: 30, warn: 40, error: 50 }

/** To be called once, at the top of a test file. */
export function mailBench() {
  const open: (() => unknown)[] = []
  let logged: Record<string, unknown>[] = []

  afterEach(async () => {
    // What was opened last hangs on what was opened first.
    for (const close of open.splice(0).reverse()) await close()
    const text = JSON.stringify(logged)
    logged = []
    for (const secret of [TOKEN, LOCAL_PART, MESSAGE]) expect(text).not.toContain(secret)
  })

  function closeLater<T extends { close: () => unknown }>(part: T): T {
    open.push(() => part.close())
    return part
  }

  return {
    closeLater,
    logged: () => logged,
    lines: (level: keyof typeof levels) => logged.filter((line) => line.level === levels[level]),
    mailer(smtpUrl: string | null, mailDir: string | null = null, times = quick, from = SENDER) {
      const log = pino({ base: null }, { write: (line: string) => logged.push(JSON.parse(line)) })
      const mailer = createMailer({ smtpUrl, mailDir, from, log, times })
      open.push(() => mailer.close(0))
      return mailer
    },
    server: async (...options: Parameters<typeof startMailServer>) => closeLater(await startMailServer(...options)),
    /** A server that says what a test wants it to say. */
    async talker(talk: (socket: Socket) => void) {
      const sockets = new Set<Socket>()
      let connections = 0
      const listener = createServer((socket) => {
        connections++
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket)).on('error', () => {})
        talk(socket)
      })
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
      return closeLater({
        url: `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`,
        connections: () => connections,
        open: () => sockets.size,
        close() {
          for (const socket of sockets) socket.destroy()
          return new Promise((resolve) => listener.close(resolve))
        }
      })
    }
  }
}
