// The manifest's facts about each execution, read from the evidence so that the two always agree.

import { evidenceFolder } from '../domain/capsules/evidence-folder.js'
import { localProviders, type RunFacts, type RunReading, readRun } from '../domain/verification/run-counts.js'
import type { TaskExecution } from './manifest/manifest.js'
import { type PackageFile, packageFault } from './payload-file.js'

/** The fields that are read from files that the service wrote (db/capsules/capsule-evidence.ts). */
interface JobFile {
  id: string
  framework?: string
  source?: { kind?: string }
  provider: string
  backend: string
  shots: number
}
interface TimingFile {
  started_at: string | null
  completed_at: string | null
  actual_cost_usd: number | null
}
interface BackendFile {
  facts?: { deviceType?: string }
}

export interface SealedExecution extends TaskExecution {
  /** The result, as a verification reads it. */
  run: RunReading
}

/** @throws ServiceError `validation_error` naming the missing file. */
export function taskExecution(task: string, files: readonly PackageFile[]): SealedExecution {
  const folder = evidenceFolder(task)
  const textOf = (name: string): string => {
    const file = files.find((one) => one.name === `${folder}/${name}`)
    if (!file) throw packageFault(`evidence is missing: ${folder}/${name}`)
    return file.content.toString('utf8')
  }
  const job = JSON.parse(textOf('job.json')) as JobFile
  const timing = JSON.parse(textOf('timing.json')) as TimingFile
  const { facts } = JSON.parse(textOf('backend.json')) as BackendFile
  const [startedAt, endedAt] = [dateOf(timing.started_at), dateOf(timing.completed_at)]
  const run = readResult(textOf('result.json'), {
    hardware: facts?.deviceType === 'qpu',
    local: localProviders.has(job.provider),
    completedAt: null
  })
  return {
    taskId: job.id,
    jobId: job.id,
    name: task,
    provider: job.provider,
    backend: job.backend,
    shots: job.shots,
    startedAt,
    endedAt,
    wallSeconds: startedAt && endedAt && (endedAt.getTime() - startedAt.getTime()) / 1000,
    costUsd: timing.actual_cost_usd,
    sampled: isSampled(run),
    programReported: isProgramReported(run, job),
    hardware: run.facts.hardware,
    run
  }
}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text))

/** A large result is parsed once. A value that is not an object has no counts. */
const readResult = (text: string, facts: RunFacts): RunReading =>
  text.startsWith('{') ? readRun(text, facts) : { circuits: new Map(), metadata: {}, seeds: null, facts }

/**
 * Whatever a quantum computer gives is sampled, also a value without counts, and counts that its provider returned as
 * probabilities. Elsewhere, all counts that a verification reads are, wherever they are in the result.
 */
const isSampled = ({ circuits, facts }: RunReading): boolean =>
  facts.hardware || [...circuits.values()].some(({ countSource }) => countSource !== 'probability_derived')

const providerSources = new Set<unknown>(['provider_counts', 'provider_measurements', 'probability_derived'])

/**
 * Whether the program itself stated the result. Earlier releases called all counts `simulator_sampled`, also those that a
 * process which ran the program's code reported; `executed_apart` states that another process executed the circuit.
 */
function isProgramReported({ metadata }: RunReading, { source, framework }: JobFile): boolean {
  const { count_source: stated, executed_apart: apart } = metadata
  if (stated !== undefined && providerSources.has(stated)) return false
  if (stated !== 'simulator_sampled') return true
  const ranCode = source?.kind !== undefined && source.kind !== 'circuit' && framework !== 'openqasm'
  return ranCode && apart !== true
}
