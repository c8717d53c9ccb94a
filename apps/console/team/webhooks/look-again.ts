// When the log of a webhook is read again: soon while a delivery is about to be sent, and only for some time, since a page that
// polls would use up the reads of its user.
import type { Delivery } from '../team-queries.js'

const SOON_MS = 1_000
const READS_MAX = 15

/** @param reads how often the log was read since the last press. @returns `false`: no more. */
export const lookAgainIn = (log: readonly Pick<Delivery, 'can'>[] | undefined, reads: number): number | false =>
  reads < READS_MAX && log?.some(({ can }) => can.send_again !== true && /being sent/.test(can.send_again))
    ? SOON_MS
    : false
