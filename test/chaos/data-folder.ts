// The data folder of a stack that was started for a chaos run.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Deletes the folder, and the database if it is stored elsewhere. */
export function removeDataDir(folder: string): void {
  const pointer = join(folder, 'postgres-location')
  if (existsSync(pointer)) rmSync(readFileSync(pointer, 'utf8').trim(), { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}
