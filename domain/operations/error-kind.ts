// What an unexpected error of a job's step means for the step. Every place that repeats a step decides by this one sort.

/**
 * `away`: the database cannot be reached, or accepts no work; the step waits until it does. `conflict`: the statement met
 * another one, or took too long; it is repeated a limited number of times. `fault`: permanent.
 */
export type ErrorKind = 'away' | 'conflict' | 'fault'

/** Codes of Node's sockets and of the Postgres driver. */
const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  // Of this service, for its store of contents.
  'content_store_unavailable'
])

/** OpenSSL's and Node's codes of a TLS handshake: a certificate that has expired is no fault of what waits for its server. */
const handshakeCode = /^(EPROTO$|ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/

/**
 * Classes of SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html): connection exception, invalid
 * authorization (an operator changes the password), insufficient resources, system error.
 */
const awayClasses = new Set(['08', '28', '53', '58'])
/** A database that does not exist (it is being restored); a standby; a server that stops, crashed or starts; dropped; a session
 * that it ended since nothing was heard of it. */
const awayStates = new Set(['3D000', '25006', '57P01', '57P02', '57P03', '57P04', '57P05', '25P03'])
/** Serialization failure, deadlock, lock not available, statement time-out. */
const conflictStates = new Set(['40001', '40P01', '55P03', '57014'])

/** disk_full of SQLSTATE, and Node's codes for a full disk and a used-up quota. */
const diskFullCodes = new Set(['53100', 'ENOSPC', 'EDQUOT'])

/** @param error any thrown value; the codes of its causes count too, since libraries wrap the errors of the driver. */
export function errorKind(error: unknown): ErrorKind {
  for (const code of codesOf(error)) {
    if (connectionCodes.has(code) || awayStates.has(code) || handshakeCode.test(code)) return 'away'
    if (conflictStates.has(code)) return 'conflict'
    if (/^[0-9A-Z]{5}$/.test(code)) return awayClasses.has(code.slice(0, 2)) ? 'away' : 'fault'
  }
  return 'fault'
}

/** Whether only an operator can end it: a wrong password, a database that does not exist, a certificate that is refused. */
export function needsOperator(error: unknown): boolean {
  for (const code of codesOf(error)) if (/^28|^3D000$/.test(code) || handshakeCode.test(code)) return true
  return false
}

/** Whether a disk had no room for a write: that of the database, or one of this service. */
export function isDiskFull(error: unknown): boolean {
  for (const code of codesOf(error)) if (diskFullCodes.has(code)) return true
  return false
}

/** Longer chains of causes have a loop. */
const DEPTH_MAX = 10

function* codesOf(error: unknown): Generator<string> {
  let at = error as { code?: unknown; cause?: unknown } | null | undefined
  for (let depth = 0; at && typeof at === 'object' && depth < DEPTH_MAX; depth++) {
    if (typeof at.code === 'string') yield at.code
    at = at.cause as typeof at
  }
}

/** How often a step is tried before an error of this kind is final; `null`: always again. */
export const triesOf = { away: null, conflict: 10, fault: 3 } as const satisfies Record<ErrorKind, number | null>

/** A step that was tried more often, for other reasons than waiting, is reported. */
export const QUIET_TRIES = 20

const FIRST_MS = 200
const LONGEST_MS = 30_000

/**
 * The pause before the next try. It grows with the tries, and its random half keeps the jobs that wait for one database
 * from trying at the same moments.
 * @param tries so far, from 1. @param random from 0 to 1.
 */
export function pauseMs(tries: number, random: number, longestMs = LONGEST_MS): number {
  const whole = Math.min(FIRST_MS * 2 ** Math.min(tries - 1, 20), longestMs)
  return Math.round(whole * (0.5 + random / 2))
}
