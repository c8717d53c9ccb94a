// How many circuits one run of a circuit takes: more than one where it is measured for observables or mitigation.

import { calibrationCircuits, factorsOf } from './mitigation.js'
import { groupsOf } from './observable-groups.js'
import type { JobParams } from './params.js'
import { paramsOfRuns } from './points.js'

/** Of one job; the executor makes no more requests for a program (REQUESTS_MAX). */
export const CIRCUITS_MAX = 1_000

export type MeasuredParams = Pick<JobParams, 'observables' | 'mitigation' | 'points'>

/**
 * Whether a circuit of the job is measured for its values, in further circuits.
 * @param text of the job's parameters, which were checked when they were stored.
 */
export function isMeasuredOften(text: string): boolean {
  const { observables, mitigation } = JSON.parse(text) as MeasuredParams
  return observables !== undefined || mitigation !== undefined
}

/**
 * The circuits that a job pays for each of its own: that circuit, one for each group of observables and factor, and those
 * of the calibration; of a sweep, those of its largest point. It is what a mitigated run takes; a run at a provider can take
 * one less. A simulator that mitigates nothing often has exact values, and counts one circuit.
 */
export function circuitsOf(params: MeasuredParams, atProvider: boolean): number {
  // Most points have the observables of the job, which take time to put into groups.
  const groupsOfOne = new Map<readonly string[], number>()
  const counts = paramsOfRuns(params).map(({ observables, mitigation }) => {
    if (!atProvider && mitigation === undefined) return 1
    const groups = observables ? (groupsOfOne.get(observables) ?? groupsOf(observables)) : 0
    if (observables) groupsOfOne.set(observables, groups)
    return circuitsOfRun(groups, mitigation)
  })
  return Math.max(...counts)
}

function circuitsOfRun(groups: number, mitigation: MeasuredParams['mitigation']): number {
  return 1 + groups * factorsOf(mitigation) + (mitigation ? calibrationCircuits(mitigation) : 0)
}
