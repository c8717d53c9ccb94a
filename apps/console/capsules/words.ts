// States, verdicts and outcomes of capsules as people read them. What they mean is in docs/capsules.
import type { components } from '../api/schema.js'

type Schemas = components['schemas']
export type CapsuleState = Schemas['Capsule']['state']
export type Verdict = Schemas['PublicVerification']['verdict']

/** The best first. */
export const verdicts = ['exact', 'consistent', 'not_testable', 'drifted', 'different'] as const satisfies Verdict[]

const tones = {
  exact: 'ok',
  consistent: 'ok',
  not_testable: 'warn',
  drifted: 'bad',
  different: 'bad'
} as const satisfies Record<Verdict, string>

/** A verdict of a newer service is shown without a judgement. */
export const toneOf = (verdict: string): 'ok' | 'warn' | 'bad' | 'info' =>
  Object.hasOwn(tones, verdict) ? tones[verdict as Verdict] : 'info'

export const wordsOf = (name: string): string => name.replaceAll('_', ' ')

/** `0.0123` */
export const distanceText = (distance: number | null): string =>
  distance === null ? '–' : String(Number(distance.toPrecision(3)))

export const percentOf = (share: number): string => `${Number((100 * share).toPrecision(4))} %`

export const refusalOf = (may: true | string | undefined): string | null => (typeof may === 'string' ? may : null)
