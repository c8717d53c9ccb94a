// The folder of a stack that was made for chaos alone.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Removes the folder, and the database where it had to lie elsewhere. */
export function removeDataDir(folder: string): void {
  const pointer = join(folder, 'postgres-location')
  if (existsSync(pointer)) rmSync(readFileSync(pointer, 'utf8').trim(), { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}
