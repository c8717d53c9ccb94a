// What the tests of mail share: clients and servers that are closed after each test, and a check that no outcome quotes the
// mail.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, expect } from '@jest/globals'
import { createMailClient, type MailOutcome, type TryLimits } from '../../../services/mail/mail-client.js'
import type { Mail } from '../../../services/mail/message.js'
import { invitationMail } from '../../../services/mail/text.js'
import { startMailServer } from './mail-server.js'

const TOKEN = 'tkn-7f3a9c'
const MESSAGE = 'Welcome among us'
export const LOCAL_PART = 'grace.hopper'
export const RECIPIENT = `${LOCAL_PART}@people.example.org`
export const SENDER = 'Quantum Job Service <no-reply@jobs.example.org>'
export const link = `https://jobs.example.org/invitations/${TOKEN}`
/** Long enough for a busy machine. */
const patient: TryLimits = { silenceMs: 20_000, tryMs: 40_000 }
/** Short, for servers that are silent. */
export const quickSilence: TryLimits = { ...patient, silenceMs: 300 }
/** Short, for servers that are never done. */
export const quickTry: TryLimits = { ...patient, tryMs: 600 }
export const CONNECTIONS = 4

export const mailTo = (to = RECIPIENT, changes: Partial<Mail> = {}): Mail => ({
  to,
  ...invitationMail({
    teamName: 'Chemistry',
    inviterName: 'Ada',
    role: 'member',
    message: MESSAGE,
    stranger: false,
    link,
    expiresAt: new Date('2026-03-04T05:06:07Z')
  }),
  ...changes
})

/** To be called once, at the top of a test file. */
export function mailBench() {
  const open: (() => unknown)[] = []
  const outcomes: MailOutcome[] = []

  afterEach(async () => {
    // Parts opened last depend on those opened first.
    for (const close of open.splice(0).reverse()) await close()
    const text = JSON.stringify(outcomes.splice(0))
    for (const secret of [TOKEN, LOCAL_PART, MESSAGE]) expect(text).not.toContain(secret)
  })

  function closeLater<T extends { close: () => unknown }>(part: T): T {
    open.push(() => part.close())
    return part
  }

  let lastId = 0
  return {
    closeLater,
    /** A client with four connections; `null` when the settings name no server and no folder. */
    client(smtpUrl: string | null, mailDir: string | null = null, limits: TryLimits = patient, from = SENDER) {
      const made = createMailClient({ smtpUrl, mailDir, from }, CONNECTIONS, limits)
      if (!made) return null
      closeLater(made)
      return {
        ...made,
        async send(mail: Mail, id = `mail-${++lastId}`, signal = new AbortController().signal): Promise<MailOutcome> {
          const outcome = await made.send(mail, id, signal)
          outcomes.push(outcome)
          return outcome
        }
      }
    },
    server: async (...options: Parameters<typeof startMailServer>) => closeLater(await startMailServer(...options)),
    /** A server that says whatever a test wants. */
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
