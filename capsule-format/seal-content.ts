// Computes a whole seal except its signature from the evidence. It runs in a thread because it can take a second.

import { assertParameterTexts, readDefinition } from '../domain/capsules/capsule-definition.js'
import { evidenceFolder } from '../domain/capsules/evidence-folder.js'
import { type SealOutlook, sealOutlook } from '../domain/verification/untestable.js'
import { parsedChecksums } from './checksums.js'
import type { SealInput } from './manifest/manifest.js'
import { type SealedPackage, sealPackage } from './package.js'
import { type PackageFile, packageFault, shownName } from './payload-file.js'
import { taskExecution } from './task-execution.js'

export interface SealRequest extends Omit<SealInput, 'tasks' | 'files' | 'margin' | 'requirements'> {
  /** Names of the tasks that the evidence covers, in their order. */
  taskNames: readonly string[]
  /** `sha256` is the recorded digest, hex. */
  files: readonly (PackageFile & { sha256: string })[]
  /** `null`: the larger of the default margin and what the sealed shots can resolve. */
  margin: number | null
}

export interface SealContent extends Omit<SealedPackage, 'files'>, SealOutlook {}

/** @throws ServiceError `validation_error` as `sealPackage` does, and if the evidence is not intact. */
export async function sealContent({ taskNames, files, margin: declared, ...input }: SealRequest): Promise<SealContent> {
  assertParameterTexts(readDefinition(input.definition))
  const tasks = taskNames.map((name) => taskExecution(name, files))
  const outlook = sealOutlook(
    tasks.map(({ name, run }) => ({ task: name, run })),
    declared
  )
  const { files: _, ...sealed } = await sealPackage({ ...input, tasks, files, margin: outlook.margin })
  const digests = parsedChecksums(sealed.checksums)
  for (const { name, sha256 } of files)
    if (digests.get(name.normalize('NFC')) !== sha256)
      throw packageFault(`the evidence ${shownName(name)} is not what was recorded: its SHA-256 differs`)
  return { ...sealed, ...outlook }
}

/** A larger result is only read in a thread, at its seal. */
const RESULT_BYTES_MAX = 256 * 1024

/** @returns the warnings that a seal with the evidence of one task will have, whatever its margin. */
export function untestableWarnings(task: string, files: readonly PackageFile[]): string[] {
  const result = files.find(({ name }) => name === `${evidenceFolder(task)}/result.json`)
  if (!result || result.content.length > RESULT_BYTES_MAX) return []
  const { untestable } = sealOutlook([{ task, run: taskExecution(task, files).run }], null)
  return untestable === null ? [] : [untestable]
}
