// Files that a command is given, as text; `-` stands for standard input.
import { createReadStream } from 'node:fs'
import { CliError } from './cli-error.js'

/** The service takes no larger body. */
const FILE_BYTES_MAX = 4 * 1024 * 1024

/** @throws CliError `usage` for what cannot be read, is larger than 4 MiB, not UTF-8, or empty. */
export async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      size += chunk.length
      if (size > FILE_BYTES_MAX)
        throw new CliError('usage', `${nameOf(file)}: is larger than the 4 MiB that the service takes`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError('usage', `${nameOf(file)}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
    if (text.trim() !== '') return text
  } catch {
    throw new CliError('usage', `${nameOf(file)}: is not text in UTF-8`)
  }
  throw new CliError('usage', `${nameOf(file)}: is empty`)
}

/** As messages name it. */
export const nameOf = (file: string): string => (file === '-' ? 'standard input' : file)
