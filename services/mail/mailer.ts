// Mails of the api. They hold links that work like passwords: each mail is sealed with the key ring and written in the
// transaction that makes its token, so it exists exactly when the token does. A worker sends it, with retries until the token
// expires (apps/worker/sweeps/mail-sender.ts).

import type { DbOrTx } from '../../db/client.js'
import { newId } from '../../db/ids.js'
import { addSealedMail, type SealedMail } from '../../db/service/sealed-mails.js'
import { type KeyRing, mailContext } from '../keys/key-ring.js'
import { domainOf, type Mail, subjectOf } from './message.js'

export interface Mailer {
  /** Whether a mail server or a folder is configured. */
  readonly sends: boolean
  /**
   * Writes a mail that is sent after the commit of `tx`.
   * @param expiresAt when its link is no longer valid.
   * @param options.first it is sent before mails without this.
   */
  send(tx: DbOrTx, mail: Mail, expiresAt: Date, options?: { first?: boolean }): Promise<void>
}

/** @param options.sends the workers have SMTP_URL or MAIL_DIR. */
export function createMailer({
  sends,
  keyRing,
  log
}: {
  sends: boolean
  keyRing: KeyRing | null
  log: { warn(detail: object, message: string): void }
}): Mailer {
  const missing = !sends ? 'neither SMTP_URL nor MAIL_DIR is set' : keyRing ? null : 'SECRETS_KEYS is not set'
  if (missing) log.warn({}, `no mail is sent: ${missing}`)
  return {
    sends,
    async send(tx, mail, expiresAt, { first = false } = {}) {
      if (!sends || !keyRing)
        return log.warn({ domain: domainOf(mail.to), subject: subjectOf(mail) }, `mail dropped: ${missing}`)
      const id = newId()
      const { sealedValue, ...key } = keyRing.seal(JSON.stringify(mail), mailContext({ id }))
      await addSealedMail(tx, { id, sealedMail: sealedValue, ...key, expiresAt, first })
    }
  }
}

/** @throws UnopenableError when the ring lacks the mail's key. */
export const openMail = (keyRing: KeyRing, { id, sealedMail, ...key }: SealedMail): Mail =>
  JSON.parse(keyRing.open({ ...key, sealedValue: sealedMail }, mailContext({ id }))) as Mail
