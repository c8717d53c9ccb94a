/** Says that something of a job is no longer there. @param at ISO 8601. */
export const removedText = (what: string, at: string): string =>
  `The ${what} of this job was removed on ${at.slice(0, 10)}, since the team keeps it for a limited time.`
