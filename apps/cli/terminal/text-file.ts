// Reads the text files of a command's arguments; `-` stands for standard input.
import { createReadStream } from 'node:fs'
import { CliError } from './cli-error.js'

/** The service accepts no larger body. */
const FILE_BYTES_MAX = 4 * 1024 * 1024

/** @throws CliError `usage` if the file cannot be read, is larger than 4 MiB, is not UTF-8, or is empty. */
export async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      size += chunk.length
      if (size > FILE_BYTES_MAX) throw new CliError('usage', `${nameOf(file)}: must be at most 4 MiB`)
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
    throw new CliError('usage', `${nameOf(file)}: must be UTF-8 text`)
  }
  throw new CliError('usage', `${nameOf(file)}: must not be empty`)
}

/** The name of the file in messages. */
export const nameOf = (file: string): string => (file === '-' ? 'standard input' : file)
