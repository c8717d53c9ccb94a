// What a reader of a verdict has to know about the two runs: who vouches for them, and how they differ apart from their
// counts.

import { haveOtherNames, registersText } from './registers.js'
import type { Relation } from './relation.js'
import type { Check } from './report.js'
import type { RunCounts } from './run-counts.js'

/** Both runs of a circuit. */
export interface Counted {
  sealed: RunCounts
  rerun: RunCounts
}

export const isOfProgram = ({ sealed, rerun }: Counted): boolean =>
  sealed.madeBy === 'program' || rerun.madeBy === 'program'

/** Whether the seed and the versions fix the counts of both runs to be the same. */
export const isRepetition = ({ sealed, rerun }: Counted): boolean =>
  sealed.deterministic && rerun.deterministic && sealed.seed === rerun.seed && hasSameVersions(sealed, rerun)

const hasSameVersions = (sealed: RunCounts, rerun: RunCounts): boolean =>
  sealed.engine === rerun.engine &&
  sealed.engineVersion === rerun.engineVersion &&
  sealed.frameworkVersion === rerun.frameworkVersion

/** Notes that hold whether or not the counts are equal. */
export function notesOf({ sealed, rerun }: Counted, relation: Relation): string[] {
  const notes: string[] = []
  if (!hasSameVersions(sealed, rerun))
    notes.push(`the versions differ: ${versionsOf(sealed)} ${relation.ofOne}, ${versionsOf(rerun)} ${relation.ofOther}`)
  if (!relation.repeats) notes.push(...differences({ sealed, rerun }, relation))
  const returned = sealed.countSource === null || rerun.countSource === null
  if (returned)
    notes.push(
      'the program itself returned these counts; they are taken for samples of the same circuit, which the service has not seen'
    )
  else if (isOfProgram({ sealed, rerun }))
    notes.push(
      'the program itself reported these counts and their circuit: the process that reported them also ran its code, so the service cannot vouch for them'
    )
  if (relation.repeats && !returned && sealed.circuitSha256 === null)
    notes.push('the circuit has no digest; it is taken to be the same because the program is')
  if (!returned && sealed.bitOrder === null)
    notes.push(
      `neither run states its bit order; it is assumed to be the same${relation.repeats ? ' because the program is' : ''}`
    )
  return notes
}

/** What two jobs can differ in and still be compared. */
function differences({ sealed, rerun }: Counted, { one, other }: Relation): string[] {
  const notes: string[] = []
  if (sealed.circuitSha256 !== null && rerun.circuitSha256 !== null && sealed.circuitSha256 !== rerun.circuitSha256)
    notes.push('the circuits differ; the verdict is about the outcomes that they give')
  if (haveOtherNames(sealed.registers, rerun.registers))
    notes.push(
      `the registers have other names: ${registersText(sealed.registers)} in ${one}, ${registersText(rerun.registers)} in ${other}; bits are compared by their place`
    )
  return notes
}

/** Why the tested counts of a seeded simulator are no independent samples, or should have been equal. */
export function seedNotes({ sealed, rerun }: Counted, { repeats }: Relation): string[] {
  if (repeats)
    return isRepetition({ sealed, rerun }) && sealed.shots === rerun.shots
      ? ['seed and versions are the same, but the counts are not: the run is not as repeatable as it was taken to be']
      : []
  return sealed.deterministic && rerun.deterministic && sealed.seed === rerun.seed
    ? [
        `both runs have the seed ${sealed.seed}: they may share random numbers, and the tests take runs for independent; use another seed for one of them`
      ]
    : []
}

const versionsOf = ({ engine, engineVersion, frameworkVersion }: RunCounts): string =>
  `${engine ?? 'no engine'} ${engineVersion ?? ''} with framework ${frameworkVersion ?? 'unknown'}`

export function hardwareOf({ sealed, rerun }: Counted): Check['hardware'] {
  if (!sealed.hardware && !rerun.hardware) return null
  const [before, after] = [sealed.completedAt, rerun.completedAt].map((at) =>
    at === null ? Number.NaN : Date.parse(at)
  )
  const elapsed = (after! - before!) / 1000
  return {
    sealed_calibration_id: sealed.calibrationId,
    rerun_calibration_id: rerun.calibrationId,
    elapsed_seconds: Number.isFinite(elapsed) ? elapsed : null
  }
}

/** For a difference on one quantum computer: what may have caused it. */
export function causesOf({ hardware }: Check, { sameBackend, ofOne, ofOther }: Relation): string {
  if (!hardware || !sameBackend) return ''
  const { sealed_calibration_id: before, rerun_calibration_id: now, elapsed_seconds: seconds } = hardware
  const calibration =
    before === null || now === null
      ? 'it is not known whether the calibration is the same'
      : before === now
        ? `the calibration is the same (${now})`
        : `the calibration is another one (${before} ${ofOne}, ${now} ${ofOther})`
  return `; ${calibration}${seconds === null ? '' : `, ${lapse(Math.abs(seconds))} have passed`}`
}

const lapse = (seconds: number): string =>
  seconds < 172_800 ? `${(seconds / 3600).toFixed(1)} hours` : `${(seconds / 86_400).toFixed(1)} days`
