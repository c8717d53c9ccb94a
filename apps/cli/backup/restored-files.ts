// Files that a restore puts in place: complete under another name first, never over one that is there.
import { createWriteStream, type WriteStream } from 'node:fs'
import { link, mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'
import { CliError } from '../terminal/cli-error.js'

export interface RestoredFile {
  write(bytes: Buffer | string): Promise<void>
  /** Puts the file in its place. */
  place(): Promise<void>
  /** Removes it, also from its place. */
  discard(): Promise<void>
}

/** @param what names the file in messages. @throws CliError if there is one with content. */
export async function restoredFile(path: string, what: string, remedy: string): Promise<RestoredFile> {
  const present = await stat(path).catch(() => null)
  if (present && present.size > 0)
    throw new CliError('refused', `there is ${what} already, ${path}, which a restore does not overwrite: ${remedy}`)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.part`
  let placed = false
  let stream: WriteStream | null = null
  return {
    async write(bytes) {
      stream ??= createWriteStream(draft, { mode: 0o600, flags: 'wx' })
      const target = stream
      await new Promise<void>((resolve, reject) => target.write(bytes, (error) => (error ? reject(error) : resolve())))
    },
    async place() {
      if (!stream) return
      stream.end()
      await finished(stream)
      await sync(draft)
      if (present) await rm(path)
      // Fails if another process has made the file since.
      await link(draft, path)
      placed = true
      await rm(draft)
      await sync(dirname(path))
    },
    async discard() {
      stream?.destroy()
      await rm(draft, { force: true })
      if (placed) await rm(path, { force: true })
    }
  }
}

/** Waits until the content of a file, or the names in a folder, are on the disk. */
export async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
}
