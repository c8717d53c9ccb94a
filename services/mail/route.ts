// The two ways that a mail takes: to an SMTP server, or into a folder as a file. A call is one try; when there is another
// is decided in mail.ts.
import { accessSync, constants, mkdirSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { parseConnectionUrl } from 'nodemailer/lib/shared'
import { oneLine } from './text.js'

export interface MailRoute {
  /**
   * Resolves when the server, or the folder, has the mail. Rejects otherwise, and when `signal` aborts; then the connection
   * is cut.
   * @param fileName for a folder.
   */
  deliver(message: SendMailOptions, fileName: string, signal: AbortSignal): Promise<void>
  /** Ends what is under way. */
  close(): void
}

/**
 * @param silenceMs how long the server may take to be found, to greet, and to say nothing.
 * @throws Error naming SMTP_URL, never its value.
 */
export function smtpRoute(
  smtpUrl: string,
  { connections, silenceMs }: { connections: number; silenceMs: number }
): MailRoute {
  if (!URL.canParse(smtpUrl) || !/^smtps?:\/\/[^/?#]/i.test(smtpUrl))
    throw new Error('SMTP_URL must be smtp://host:port or smtps://host:port, with user:password@ percent-encoded')
  const transport = createTransport({
    ...parseConnectionUrl(smtpUrl),
    // What the URL must not change: its log would hold bodies.
    logger: false,
    debug: false,
    disableFileAccess: true,
    disableUrlAccess: true,
    pool: true,
    maxConnections: connections,
    // Tries are counted here.
    maxRequeues: 0,
    dnsTimeout: silenceMs,
    connectionTimeout: silenceMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    socketCloseTimeout: 1_000
  })
  return {
    async deliver(message, _fileName, signal) {
      await transport.sendMail({ ...message, signal })
    },
    close: () => transport.close({ force: true })
  }
}

/** @throws Error naming MAIL_DIR. */
export function folderRoute(mailDir: string): MailRoute {
  // For the owner only: whoever reads a mail can take its link.
  const makeFolder = { recursive: true, mode: 0o700 }
  try {
    mkdirSync(mailDir, makeFolder)
    accessSync(mailDir, constants.W_OK)
  } catch (error) {
    throw new Error('MAIL_DIR must be a folder that can be written to', { cause: error })
  }
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true
  })
  return {
    async deliver(mail, fileName, signal) {
      const { message } = await transport.sendMail({ ...mail, signal })
      const unfinished = join(mailDir, `.${fileName}.tmp`)
      // Again each time, since folders of mails are cleaned up.
      await mkdir(mailDir, makeFolder)
      try {
        await writeFile(unfinished, message as Buffer, { mode: 0o600, signal })
        await rename(unfinished, join(mailDir, fileName))
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {})
        throw error
      }
    },
    close: () => transport.close()
  }
}

interface DeliveryError {
  code?: unknown
  command?: unknown
  response?: unknown
  responseCode?: unknown
  syscall?: unknown
  message?: unknown
}

/**
 * The server will not take this mail however often it is asked. 503 is a quarrel about the order of commands, which a new
 * connection may end.
 */
export function isRefusedForGood(error: unknown): boolean {
  const { responseCode } = error as DeliveryError
  return typeof responseCode === 'number' && responseCode >= 500 && responseCode !== 503
}

/** Errors on the way. Unless they hold a reply, their messages name hosts, ports and certificates, and nothing of the mail. */
const onTheWay = new Set(['ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'EDNS', 'ETLS'])

/** What the log may say of a failure: codes, and words only of errors that cannot quote the mail. */
export function mailFault(error: unknown): Record<string, unknown> {
  const { code, command, response, responseCode, syscall, message } = error as DeliveryError
  if (response !== undefined) {
    // RFC 3463: 5.1.1 tells an unknown mailbox from 5.7.1, a sender that is not wanted.
    const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(response))?.[1]
    return { code, command, reply: enhanced ? `${responseCode} ${enhanced}` : String(responseCode) }
  }
  const plain = syscall !== undefined || (typeof code === 'string' && onTheWay.has(code))
  return { code, command, ...(plain && { message: oneLine(String(message), 300) }) }
}
