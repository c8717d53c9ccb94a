// Builds a mail for a server or a folder, and checks the addresses on it.
import { randomBytes } from 'node:crypto'
import type { SendMailOptions } from 'nodemailer'
import addressparser from 'nodemailer/lib/addressparser'
import { folderRoute, type MailRoute, smtpRoute } from './route.js'
import { type MailText, oneLine } from './text.js'

export interface Mail extends MailText {
  /** One address, without a name. */
  to: string
}

export interface Sender {
  name: string
  address: string
}

/** The destination of mails. */
export interface MailSettings {
  /**
   * `smtp://` or `smtps://user:password@host:port`, parts percent-encoded. `smtps` is TLS from the first byte; `smtp` uses
   * STARTTLS where the server offers it, and requires it with `?requireTLS=true`. Certificates are verified.
   */
  smtpUrl: string | null
  /** Without `smtpUrl`: the folder that gets one `.eml` file per mail; it is created if missing. */
  mailDir: string | null
  /** The sender, `no-reply@example.org` or `Name <no-reply@example.org>`. */
  from: string
}

/** The default sender, unless MAIL_FROM is set. */
const DEFAULT_SENDER = 'Quantum Job Service <no-reply@localhost.localdomain>'

const SUBJECT_MAX = 200

export const readMailSettings = (env: NodeJS.ProcessEnv): MailSettings => ({
  smtpUrl: env.SMTP_URL || null,
  mailDir: env.MAIL_DIR || null,
  from: env.MAIL_FROM || DEFAULT_SENDER
})

/** @returns `null` when neither is configured. @throws Error naming the setting that cannot be used, never its value. */
export function mailRoute(
  { smtpUrl, mailDir }: MailSettings,
  limits: { connections: number; silenceMs: number }
): MailRoute | null {
  if (smtpUrl) return smtpRoute(smtpUrl, limits)
  return mailDir ? folderRoute(mailDir) : null
}

/** One address and nothing else: it contains no character that could end it, quote it or begin another. */
export const isAddress = (text: string): boolean =>
  /^[^\s\p{Cc}@<>,;:"()[\]\\]{1,64}@[^\s\p{Cc}@<>,;:"()[\]\\]{1,255}$/u.test(text)

/** The part of a recipient that is safe for the log. */
export const domainOf = (to: string): string => (isAddress(to) ? to.slice(to.indexOf('@') + 1) : '(no address)')

export const subjectOf = (mail: MailText): string => oneLine(mail.subject, SUBJECT_MAX)

/** @throws Error naming MAIL_FROM. */
export function senderOf(from: string): Sender {
  const [sender, ...others] = addressparser(oneLine(from, 500), { flatten: true })
  if (!sender || others.length > 0 || !isAddress(sender.address))
    throw new Error('MAIL_FROM must be one address, such as no-reply@example.org or Name <no-reply@example.org>')
  return { name: sender.name, address: sender.address }
}

/**
 * @param to satisfies `isAddress`.
 * @param id the same for every try, so that mail programs can hide a second delivery.
 */
export const messageOf = (from: Sender, to: string, mail: MailText, id: string, date: Date): SendMailOptions => ({
  from,
  to: { name: '', address: to },
  // The envelope decides: the mail goes to this one recipient, whatever its headers contain.
  envelope: { from: from.address, to: [to] },
  subject: subjectOf(mail),
  text: mail.text,
  html: mail.html,
  date,
  messageId: `<${id}@${from.address.split('@')[1]}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
  xMailer: false
})

/** A file name for a folder: sorts by time, and reveals nothing about the recipient. */
export const fileNameOf = (date: Date, count: number): string =>
  `${date.toISOString().replace(/[:.]/g, '-')}-${String(count).padStart(6, '0')}-${randomBytes(4).toString('hex')}.eml`
