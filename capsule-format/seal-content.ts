// Computes a whole seal except its signature from the evidence. It runs in a thread because it can take a second.

import { assertParameterTexts, readDefinition } from '../domain/capsules/capsule-definition.js'
import { evidenceFolder } from '../domain/capsules/evidence-folder.js'
import { type SealedMargin, sealedMargin } from '../domain/verification/margin.js'
import { untestableTasks } from '../domain/verification/untestable.js'
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

export interface SealContent extends Omit<SealedPackage, 'files'>, SealedMargin {
  /** Why every verification of the capsule ends as `not_testable`; `null` when one can end otherwise. */
  untestable: string | null
}

/** @throws ServiceError `validation_error` as `sealPackage` does, and if the evidence is not intact. */
export async function sealContent({ taskNames, files, margin: declared, ...input }: SealRequest): Promise<SealContent> {
  assertParameterTexts(readDefinition(input.definition))
  const tasks = taskNames.map((name) => taskExecution(name, files))
  const results = tasks.map(({ name, hardware, local }) => ({
    task: name,
    text: files.find((file) => file.name === `${evidenceFolder(name)}/result.json`)!.content.toString('utf8'),
    hardware,
    local
  }))
  const untestable = untestableTasks(results)
  const { margin } = sealedMargin(results, declared)
  const testable = results.filter(({ task }) => !untestable.has(task))
  const { warnings } = sealedMargin(testable, declared)
  const { files: _, ...sealed } = await sealPackage({ ...input, tasks, files, margin })
  const digests = parsedChecksums(sealed.checksums)
  for (const { name, sha256 } of files)
    if (digests.get(name.normalize('NFC')) !== sha256)
      throw packageFault(`the evidence ${shownName(name)} is not what was recorded: its SHA-256 differs`)
  const never = [...untestable].map(
    ([task, reason]) => `task ${JSON.stringify(task)}: every verification is not_testable: ${reason}`
  )
  return {
    ...sealed,
    margin,
    warnings: [...never, ...warnings],
    untestable: untestable.size === tasks.length ? never.join('; ') : null
  }
}
