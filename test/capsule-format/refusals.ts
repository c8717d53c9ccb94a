// Shared by the tests of reading: small packages, and the cost that a refusal may have.
import { expect } from '@jest/globals'
import { readPackage } from '../../capsule-format/package-reader.js'
import { type TarEntry, tarGzOf, type ZipEntry, zipOf } from './hostile-archives.js'

export const MANIFEST = 'version: "1.0.0"\nname: a draft\nlifecycle_state: draft\n'
export const manifest = { name: 'c/capsule.yaml', content: Buffer.from(MANIFEST) }
export const draft = (...more: TarEntry[]): Buffer => tarGzOf([manifest, ...more])
/** The smallest crate. */
export const CRATE: readonly ZipEntry[] = [
  { name: 'ro-crate-metadata.json', content: Buffer.from('{"@graph":[]}') },
  { name: 'capsule/capsule.yaml', content: Buffer.from(MANIFEST) }
]
export const crate = (...more: ZipEntry[]): Buffer => zipOf([...CRATE, ...more])
export const some = Buffer.from('some')

// Processor time, which other tests running at the same time hardly change.
const spent = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
let began: { time: number; memory: number } | null = null
export const refusal = async (bytes: Buffer): Promise<string> => {
  began = { time: spent(), memory: process.memoryUsage().rss }
  const error = await readPackage(bytes).then(
    () => null,
    (reason: { code?: string; message: string }) => reason
  )
  expect(error).toMatchObject({ code: 'validation_error' })
  return error!.message
}

/** A refusal takes far less than a second alone, and may take this next to other tests; an inflated bomb takes minutes. */
const SPENT_MAX_MS = 5_000

/** Call after each test: checks that the refusals took little processor time and memory. */
export function refusedCheaply(): void {
  if (began === null) return
  const { time, memory } = began
  began = null
  expect(spent() - time).toBeLessThan(SPENT_MAX_MS)
  // An archive's 64 MiB may be in memory twice for a moment.
  expect(process.memoryUsage().rss - memory).toBeLessThan(256 * 1024 * 1024)
}
