// Pairs the circuits of two results. Each circuit is named by its task and, when a result has several, by its place in
// it.
import { storableText } from '../../json/json-guard.js'
import { type Relation, sealAndRerun } from '../relation.js'
import { type RunCounts, type RunFacts, type RunReading, readRun } from '../run-counts.js'
import { isSameResult } from '../same-result.js'
import { unfixedAlone } from './gate.js'

/** A stored result as JSON text, with the facts that it does not contain. */
export interface StoredRun {
  text: string
  facts: RunFacts
}

/** A task of a capsule: its sealed result and the result of its re-run. */
export interface TaskRuns {
  name: string
  sealed: StoredRun
  rerun: StoredRun
}

/** Two runs of one circuit; or, for a result that cannot be compared by counts, the reason and whether it is equal. */
export type CircuitPair =
  | { name: string; sealed: RunCounts; rerun: RunCounts }
  | { name: string; uncounted: string; same: boolean }

const NAME_MAX = 300

export function circuitPairs({ name, sealed, rerun }: TaskRuns, relation: Relation = sealAndRerun): CircuitPair[] {
  const runs = [readRun(sealed.text, sealed.facts), readRun(rerun.text, rerun.facts)] as const
  const [before, after] = [runs[0].circuits, runs[1].circuits]
  const places = [...new Set([...before.keys(), ...after.keys()])].sort()
  if (places.length === 0) return [{ name, ...withoutCounts(runs, isSameResult(sealed.text, rerun.text), relation) }]
  // Other programs put their counts elsewhere.
  if (!relation.repeats && before.size === 1 && after.size === 1)
    return [{ name, sealed: [...before.values()][0]!, rerun: [...after.values()][0]! }]
  return places.map((place) => {
    const circuit = place === '' ? name : shown(`${name} ${place}`)
    const [one, other] = [before.get(place), after.get(place)]
    if (one && other) return { name: circuit, sealed: one, rerun: other }
    const [having, lacking] = one ? [relation.one, relation.other] : [relation.other, relation.one]
    return { name: circuit, uncounted: `${having} has counts here, ${lacking} has none`, same: false }
  })
}

/** A place comes from a program's return value, so it is made storable and short. */
const shown = (name: string): string => storableText(name.length > NAME_MAX ? `${name.slice(0, NAME_MAX - 1)}…` : name)

function withoutCounts(
  [sealed, rerun]: readonly [RunReading, RunReading],
  same: boolean,
  { one, other, ofOne, ofOther }: Relation
): { uncounted: string; same: boolean } {
  const unfixed =
    unfixedAlone(one, sealed) ??
    unfixedAlone(other, rerun) ??
    (sealed.seeds === rerun.seeds ? null : 'they do not have the same seeds')
  if (unfixed !== null)
    return {
      uncounted: `the results have no counts, so that ${same ? 'their being the same' : 'their difference'} cannot be judged: ${unfixed}`,
      same: false
    }
  if (same)
    return {
      uncounted: 'the results have no counts; with the same seed they are the same, byte by byte but for times',
      same
    }
  const [before, now] = [versionsOf(sealed), versionsOf(rerun)]
  const why =
    before === now
      ? 'although the seed is the same'
      : `with the same seed but other versions (${before} ${ofOne}, ${now} ${ofOther})`
  return {
    uncounted: `the results have no counts, and ${why} they are not the same; how far apart they are cannot be measured without counts`,
    same
  }
}

function versionsOf({ metadata }: RunReading): string {
  const textField = (name: string) => (typeof metadata[name] === 'string' ? shown(metadata[name]) : 'unknown')
  return `${textField('engine')} ${textField('engine_version')}, framework ${textField('framework_version')}`
}
