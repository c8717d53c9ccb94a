// The two routes of a mail: to an SMTP server, or into a folder as a file. A call is one try; the worker's mail sender decides
// whether to try again.
import { accessSync, constants, mkdirSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { parseConnectionUrl } from 'nodemailer/lib/shared'
import { oneLine } from './text.js'

export interface MailRoute {
  /**
   * Resolves when the server or the folder has the mail. Rejects otherwise, and when `signal` aborts, which closes the
   * connection.
   * @param fileName for a folder.
   */
  deliver(message: SendMailOptions, fileName: string, signal: AbortSignal): Promise<void>
  /** Aborts deliveries in progress. */
  close(): void
}

/**
 * @param silenceMs limit for each of: the look-up of the server, its greeting, and any silence.
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
    // The URL must not change these: a log of the conversation would contain bodies.
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
  // For the owner only: a reader of the mail could use its link.
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
      // Created for each mail, since such folders get cleaned up.
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
 * The server will not accept this mail in another try either. 503 reports a wrong order of commands, which a new connection
 * can resolve.
 */
export function isRefusedForGood(error: unknown): boolean {
  const { responseCode } = error as DeliveryError
  return typeof responseCode === 'number' && responseCode >= 500 && responseCode !== 503
}

/** Errors of the connection. Without a reply, their messages name hosts, ports and certificates, and nothing of the mail. */
const connectionErrors = new Set(['ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'EDNS', 'ETLS'])

/** The part of a failure that is safe for the log: codes, and messages only of errors that cannot quote the mail. */
export function mailFault(error: unknown): Record<string, unknown> {
  const { code, command, response, responseCode, syscall, message } = error as DeliveryError
  if (response !== undefined) {
    // RFC 3463, for example 5.1.1 for an unknown mailbox and 5.7.1 for an unwanted sender.
    const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(response))?.[1]
    return { code, command, reply: enhanced ? `${responseCode} ${enhanced}` : String(responseCode) }
  }
  const plain = syscall !== undefined || (typeof code === 'string' && connectionErrors.has(code))
  return { code, command, ...(plain && { message: oneLine(String(message), 300) }) }
}
