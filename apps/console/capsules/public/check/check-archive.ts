// Checks a package of a capsule against its signed statement: every file by its SHA-256, none missing, none besides.
import type { SignedStatement } from './dsse.js'
import { DamagedArchive, filesOfTar } from './tar.js'

export interface ArchiveCheck {
  files: number
  bytes: number
  /** What does not hold, in words; a file is named by its path in the package. Empty: everything holds. */
  faults: string[]
}

const [CHECKSUMS, MANIFEST] = ['.checksums', 'capsule.yaml']
/** Enough to see what is wrong. */
const FAULTS_SHOWN_MAX = 20

/** @param archive gzip over tar. @param onProgress the bytes that were checked so far. */
export async function checkArchive(
  archive: ReadableStream<Uint8Array>,
  statement: SignedStatement,
  onProgress: (bytes: number) => void
): Promise<ArchiveCheck> {
  const faults: string[] = []
  const found = new Map<string, string>()
  let [checksums, bytes] = ['', 0]
  const unpacked = archive.pipeThrough(
    new DecompressionStream('gzip') as unknown as TransformStream<Uint8Array, Uint8Array>
  )
  try {
    for await (const { name, content } of filesOfTar(unpacked)) {
      // All files are in one folder, which is named after the capsule.
      const path = name.slice(name.indexOf('/') + 1)
      if (found.has(path)) faults.push(`${path} occurs twice in the package`)
      found.set(path, hexOf(await crypto.subtle.digest('SHA-256', content)))
      if (path === CHECKSUMS) checksums = new TextDecoder().decode(content)
      bytes += content.length
      onProgress(bytes)
    }
  } catch (error) {
    if (!(error instanceof DamagedArchive)) throw error
    faults.push(error.at === null ? error.message : `${error.at.slice(error.at.indexOf('/') + 1)}: ${error.message}`)
  }
  for (const name of [CHECKSUMS, MANIFEST])
    if (found.get(name) !== statement.subjects.get(name)) faults.push(`${name} is not the one that was signed`)
  const listed = digestsIn(checksums)
  for (const [name, digest] of listed) {
    const actual = found.get(name)
    if (actual === undefined) faults.push(`${name} is missing in the package`)
    else if (actual !== digest) faults.push(`${name} was changed: its SHA-256 is not the one that was signed`)
  }
  for (const name of found.keys())
    if (name !== CHECKSUMS && name !== MANIFEST && !listed.has(name)) faults.push(`${name} was never signed`)
  return { files: found.size, bytes, faults: [...new Set(faults)].slice(0, FAULTS_SHOWN_MAX) }
}

const hexOf = (digest: ArrayBuffer): string =>
  [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')

const escapes: Readonly<Record<string, string>> = { '%25': '%', '%5C': '\\', '%0A': '\n', '%0D': '\r' }

/** Lines `sha256:<hex>  <name>`. */
function digestsIn(checksums: string): Map<string, string> {
  const lines = [...checksums.matchAll(/^sha256:([0-9a-f]{64}) {2}(.+)$/gm)]
  return new Map(
    lines.map(([, digest, name]) => [name!.replace(/%(?:25|5C|0A|0D)/g, (written) => escapes[written]!), digest!])
  )
}
