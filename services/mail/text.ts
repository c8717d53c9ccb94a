// The texts of mails, as plain text and as simple HTML with the same words; pure functions. Names and messages are
// untrusted input: they become one line or a quotation, are cut to a readable length, and cannot end a header, a quotation
// or a tag, or change the direction of the text around them. Nothing is loaded from elsewhere, and the only link is the
// service's own. Mails to unproved addresses contain no text of their sender but two short names: they
// would otherwise carry any message to any mailbox in the operator's name. No mail contains a message of a program.

import type { ErrorCode } from '../../domain/errors.js'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import { formatUsd, type MicroUsd } from '../../domain/money/money.js'

export interface MailText {
  /** One line. */
  subject: string
  text: string
  html: string
}

/** A paragraph; a quotation, which can have several lines; or the link, alone on its line. */
type Part = { say: string } | { quote: string } | { link: string }

const PRODUCT = 'Quantum Job Service'
/** In characters. A subject contains one name. */
const NAME_MAX = 80
/** In characters, for a recipient who has not proved the address here. */
const PLAIN_NAME_MAX = 40
/** In characters: twice the limit of the API, so that no message from there is cut. */
const MESSAGE_MAX = 1_000

/**
 * The invitation to a team.
 * @param invitation.message of the inviter to the invitee; `null` or blank for none.
 * @param invitation.stranger no account has proved that it receives mail at the address: names are reduced, and the
 * message is left out.
 * @param invitation.link an absolute http(s) address where it is accepted.
 */
export function invitationMail(invitation: {
  teamName: string
  inviterName: string
  role: 'admin' | 'member'
  message: string | null
  stranger: boolean
  link: string
  expiresAt: Date
}): MailText {
  const { stranger } = invitation
  const nameOf = (text: string) => (stranger ? plainName(text) : oneLine(text, NAME_MAX))
  const team = nameOf(invitation.teamName) || '(no name)'
  const inviter = nameOf(invitation.inviterName) || 'A member'
  const role = { admin: 'an admin', member: 'a member' }[invitation.role]
  const message = stranger ? '' : severalLines(invitation.message ?? '', MESSAGE_MAX)
  return compose(stranger ? `Invitation to a team on ${PRODUCT}` : `Invitation to the team "${team}"`, [
    { say: `${inviter} invites you to join the team "${team}" on ${PRODUCT} as ${role}.` },
    ...(message ? [{ say: 'The message that came with it:' }, { quote: message }] : []),
    { say: 'To accept, open this link and sign in, or sign up, with the address that this mail went to:' },
    { link: invitation.link },
    { say: `It works once, until ${utc(invitation.expiresAt)}.` },
    { say: 'If you did not expect it, ignore this mail: nothing happens unless you accept.' }
  ])
}

const FIRST_PROOF =
  'This also proves for the first time that you receive mail at this address. Everything that was set up before then ends, since another person may have done it: API keys and invitations of the account; and in its personal team all other members, invitations, webhooks and stored credentials, and jobs that have not started. Its schedules are paused.'

/**
 * @param reset.link an absolute http(s) address where a new password is set.
 * @param reset.firstProof using it is the first proof of the address, which ends earlier access (db/deletion/former-access.ts).
 */
export function passwordResetMail(reset: { link: string; expiresAt: Date; firstProof: boolean }): MailText {
  return compose(`Set a new password for ${PRODUCT}`, [
    { say: `A new password was requested for your account on ${PRODUCT}. To set it, open this link:` },
    { link: reset.link },
    { say: `It works once, until ${utc(reset.expiresAt)}. All your sessions end when the password is set.` },
    ...(reset.firstProof ? [{ say: FIRST_PROOF }] : []),
    { say: 'If it was not you, ignore this mail: your password does not change.' }
  ])
}

/**
 * The outcome of a job, for its submitter.
 * @param end.name `null` when the submitter has not proved the address. @param end.cost micro-USD.
 * @param end.link an absolute http(s) address of its record.
 */
export function jobEndMail(end: {
  jobId: string
  name: string | null
  backend: string
  status: JobStatus
  errorCode: ErrorCode | null
  cost: MicroUsd | null
  link: string | null
}): MailText {
  const name = oneLine(end.name ?? '', NAME_MAX)
  const job = name ? `Job "${name}"` : `Job ${end.jobId}`
  const became =
    end.status === 'dispatch_failed' ? 'could not be started' : (becameOf[end.status] ?? `is ${end.status}`)
  return compose(`${job} ${became}`, [
    { say: `${job}, which you submitted to ${oneLine(end.backend, NAME_MAX)} on ${PRODUCT}, ${became}.` },
    ...(end.errorCode
      ? [{ say: `The code of the error is ${end.errorCode}; the record of the job has its message.` }]
      : []),
    { say: end.cost === null ? 'Its cost is not known yet.' : `It cost ${formatUsd(end.cost)}.` },
    { say: `Its id is ${end.jobId}, its status ${end.status}.` },
    ...(end.link ? [{ say: 'Its record, with the result:' }, { link: end.link }] : []),
    { say: 'You get this mail because the submission requested it.' }
  ])
}

interface Judged {
  /** A verdict, `failed`, or `refused` when the run could not be made. */
  outcome: string
  reason: string | null
  /** Total variation distance from the sealed counts, and the tolerated distance. */
  tvd: number | null
  margin: number | null
}

/**
 * An unexpected outcome of a scheduled verification.
 * @param alert.capsuleName `null` when the recipient has not proved the address.
 * @param alert.second the outcome of the run that confirmed it; `null` when there could be none.
 * @param alert.link an absolute http(s) address of the capsule's verifications.
 */
export function alertMail(alert: {
  capsuleId: string
  capsuleName: string | null
  runId: string
  scheduledAt: Date | null
  first: Judged
  second: Judged | null
  link: string | null
}): MailText {
  const name = oneLine(alert.capsuleName ?? '', NAME_MAX)
  const capsule = name ? `Capsule "${name}"` : `Capsule ${alert.capsuleId}`
  const last = alert.second ?? alert.first
  // The reason of a failed run is the message of a program; that of a verdict or a refusal is the service's.
  const reason = last.outcome === 'failed' ? '' : severalLines(last.reason ?? '', MESSAGE_MAX)
  const due = alert.scheduledAt === null ? '' : ` that was due on ${utc(alert.scheduledAt)}`
  const refused = alert.first.outcome === 'refused'
  const subject = `The verification of ${capsule.replace(/^C/, 'c')} on ${PRODUCT}${due}`
  return compose(`${capsule}: ${refused ? 'not verified' : outcomeOf(last)}`, [
    { say: `${subject} ${refused ? 'could not be run.' : `came out as: ${outcomeOf(alert.first)}.`}` },
    {
      say: alert.second
        ? `A second run, made to confirm it, came out as: ${outcomeOf(alert.second)}.`
        : refused
          ? 'Its schedule continues; this is reported once, until a run can be made again.'
          : 'It could not be confirmed by a second run.'
    },
    ...(last.tvd !== null && last.margin !== null
      ? [{ say: `Distance from the sealed counts: ${last.tvd.toFixed(4)} (tolerated: ${last.margin.toFixed(4)}).` }]
      : []),
    ...(reason ? [{ say: 'The reason:' }, { quote: reason }] : []),
    { say: `The id of the capsule is ${alert.capsuleId}, that of the run ${alert.runId}.` },
    ...(alert.link ? [{ say: 'Its verifications:' }, { link: alert.link }] : []),
    { say: 'You get this mail because the schedule of the capsule names your address.' }
  ])
}

const outcomeOf = ({ outcome }: Judged): string => outcome.replaceAll('_', ' ')

const becameOf: Partial<Record<JobStatus, string>> = {
  completed: 'is completed',
  failed: 'has failed',
  cancelled: 'was cancelled'
}

/**
 * Any text as one line of at most `max` characters, fit for a header: without line ends, other control characters and marks
 * of writing direction, and with lone surrogates replaced. A text that is cut ends in an ellipsis.
 */
export function oneLine(text: string, max: number): string {
  return cut(text.toWellFormed().replace(directions, '').replace(spaces, ' ').trim(), max)
}

/** Letters, digits and spaces alone: no address of a page, and no sentence of any length. */
const plainName = (text: string): string => oneLine(text.replace(/[^\p{L}\p{N}'_-]+/gu, ' '), PLAIN_NAME_MAX)

function severalLines(text: string, max: number): string {
  const lines = text.toWellFormed().replace(directions, '').replace(lineEnds, '\n').replace(controls, ' ')
  return cut(lines.replace(/\n{3,}/g, '\n\n').trim(), max)
}

const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
const spaces = /[\s\p{Cc}]+/gu
const lineEnds = /\r\n|[\r\v\f\u0085\u2028\u2029]/g
const controls = /[^\P{Cc}\n]/gu

function cut(text: string, max: number): string {
  // A character has at most two UTF-16 units, so the rest of a very long text need not be split.
  const characters = Array.from(text.slice(0, 2 * max + 2))
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`
}

/** The time to the minute, rounded down, so that the link is still valid at the time shown. */
const utc = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

function compose(subject: string, parts: Part[]): MailText {
  return { subject, text: `${parts.map(asText).join('\n\n')}\n`, html: page(subject, parts.map(asHtml).join('\n')) }
}

function asText(part: Part): string {
  if ('link' in part) return part.link
  return 'quote' in part ? part.quote.replace(/^/gm, '> ') : part.say
}

function asHtml(part: Part): string {
  if ('link' in part) return `<p><a href="${escapeHtml(part.link)}">${escapeHtml(part.link)}</a></p>`
  if ('say' in part) return `<p>${escapeHtml(part.say)}</p>`
  const lines = escapeHtml(part.quote).replaceAll('\n', '<br>\n')
  return `<blockquote style="margin:0;padding-left:1em;border-left:3px solid #ccc">${lines}</blockquote>`
}

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body style="font-family:sans-serif;line-height:1.5;max-width:40em">
${body}
</body>
</html>
`

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!)
