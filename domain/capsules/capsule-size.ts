// The largest capsule whose archive can be exported and imported again (capsule-format/archive/archive-entries.ts).
import { validationError } from '../errors.js'

/** The largest evidence of one capsule, including its definition, in bytes. */
export const EVIDENCE_BYTES_MAX = 60 * 1024 * 1024
/** The largest file of the evidence, in bytes. */
const FILE_BYTES_MAX = 32 * 1024 * 1024

/** @param files sizes in bytes. @throws ServiceError `validation_error` naming the largest files. */
export function assertEvidenceFits(files: readonly { name: string; size: number }[]): void {
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const largest = [...files].sort((one, other) => other.size - one.size).slice(0, 3)
  const shown = largest.map(({ name, size }) => `${JSON.stringify(name.toWellFormed().slice(0, 200))} (${size} bytes)`)
  const refuse = (what: string) => {
    throw validationError(`the evidence has ${what}; largest: ${shown.join(', ')}`)
  }
  if (total > EVIDENCE_BYTES_MAX) refuse(`${total} bytes, at most ${EVIDENCE_BYTES_MAX} can be stored`)
  if (largest[0] && largest[0].size > FILE_BYTES_MAX)
    refuse(`a file of ${largest[0].size} bytes, at most ${FILE_BYTES_MAX} can be stored in one`)
}
