// Writes what a command downloads. An existing file is overwritten only on request.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { CliError } from './cli-error.js'

export interface OverwriteOptions {
  force?: boolean
}

const isThere = (file: string) => new CliError('usage', `${file}: already exists; --force overwrites it`)

/** Whether a name from the service can be a file in the present folder: it must not lead into another one, nor be hidden. */
export const isFileName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)

/** @throws CliError `usage` if the file exists and `force` is not set. */
export function assertFree(file: string, { force }: OverwriteOptions): void {
  if (!force && existsSync(file)) throw isThere(file)
}

/** @throws CliError `usage` if the file exists and `force` is not set, or cannot be written. */
export async function writeNew(file: string, bytes: Buffer, { force }: OverwriteOptions): Promise<void> {
  try {
    await writeFile(file, bytes, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'EEXIST' ? isThere(file) : new CliError('usage', `${file}: cannot be written (${code})`)
  }
}
