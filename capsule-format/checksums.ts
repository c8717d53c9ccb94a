// `.checksums`, which has a line for every file of the payload, and the digests derived from it.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../domain/json/canonical-json.js'
import { CHECKSUMS_NAME, decodedName, encodedName, type PackageFile, packageFault, shownName } from './payload-file.js'

/** Hex. */
export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex')

/** The text of `.checksums`, sorted by the bytes of the encoded names. Empty without a payload. */
export function checksumsText(files: readonly PackageFile[]): string {
  const lines = files.map(({ name, content }) => ({ name: Buffer.from(encodedName(name)), digest: sha256(content) }))
  lines.sort((one, other) => Buffer.compare(one.name, other.name))
  return lines.map(({ name, digest }) => `sha256:${digest}  ${name}\n`).join('')
}

/** `sha256:<hex>` of `.checksums`: the digest of every file except the manifest. */
export const rootDigest = (checksums: string): string => `sha256:${sha256(checksums)}`

/** `mqc:1:<hex>`: the identity of a capsule, computed over the canonical form of its manifest. */
export const manifestDigest = (manifest: unknown, integers: 'made' | 'read' = 'made'): string =>
  `mqc:1:${sha256(canonicalJson(manifest, integers))}`

const lineForm = /^sha256:([0-9a-f]{64}) {2}(.+)$/su

/**
 * The digests in `.checksums`, hex by name. The caller reads the older form, a YAML mapping.
 * @throws ServiceError `validation_error` naming the line.
 */
export function parsedChecksums(text: string): Map<string, string> {
  const digests = new Map<string, string>()
  if (text === '') return digests
  const fault = (line: number, problem: string) => packageFault(`${CHECKSUMS_NAME}, line ${line}: ${problem}`)
  const lines = text.split('\n')
  if (lines.pop() !== '') throw fault(lines.length + 1, 'does not end with a line feed')
  for (const [index, line] of lines.entries()) {
    const parts = lineForm.exec(line)
    if (!parts) throw fault(index + 1, 'must be "sha256:", 64 lower-case hex digits, two spaces and a name')
    const name = decodedName(parts[2]!)
    if (name === null || /\r/.test(parts[2]!)) throw fault(index + 1, 'the name is not in its one encoded form')
    if (digests.has(name)) throw fault(index + 1, `${shownName(name)} occurs twice`)
    digests.set(name, parts[1]!)
  }
  return digests
}
