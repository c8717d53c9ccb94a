// What the API says of an action: `true`, or the words with which it would be refused.
export type Verdict = true | string

/** For the `why` of a button. While the record is being read nothing may be pressed. */
export const whyNot = (verdict: Verdict | undefined): string | null =>
  verdict === undefined ? 'Loading' : verdict === true ? null : verdict

/** The words that refuse an action on each of several things; `null` where one of them allows it, or their words differ. */
export function commonRefusal(verdicts: readonly Verdict[]): string | null {
  const [first] = verdicts
  return typeof first === 'string' && verdicts.every((verdict) => verdict === first) ? first : null
}
