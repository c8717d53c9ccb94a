// The files of a package, and the rules for their names (docs/capsules/capsule-format.md, "Names of files").
import { ServiceError } from '../domain/errors.js'

/** `name`: a relative path with `/`. */
export interface PackageFile {
  name: string
  content: Buffer
}

/** The error for a package that is not accepted; the API responds with 400. */
export const packageFault = (message: string): ServiceError => new ServiceError('validation_error', message)

export const MANIFEST_NAME = 'capsule.yaml'
export const CHECKSUMS_NAME = '.checksums'
const ENCODED_BYTES_MAX = 4096
const FOLDERS_MAX = 64

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const controls = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f]/

/** Why a name is not allowed, or null. The names never reach a disk. */
export function nameProblem(name: string): string | null {
  if (name === '') return 'is empty'
  if (!name.isWellFormed()) return 'contains half of a character (a lone surrogate)'
  if (controls.test(name)) return 'contains a control character'
  if (name.startsWith('/') || name.startsWith('\\') || /^[A-Za-z]:/.test(name)) return 'is an absolute path'
  const segments = name.split('/')
  if (segments.length > FOLDERS_MAX) return `is more than ${FOLDERS_MAX} folders deep`
  if (segments.some((segment) => segment === '' || segment === '.'))
    return 'has an empty segment or one that is only a dot'
  // A backslash is part of a name here and a separator on other machines: neither reading may lead out of the folder.
  if (name.split(/[/\\]/).some((segment) => segment.normalize('NFKC') === '..' || segment === '..'))
    return 'leads out of its folder (..)'
  if (Buffer.byteLength(encodedName(name)) > ENCODED_BYTES_MAX) return `is longer than ${ENCODED_BYTES_MAX} bytes`
  return null
}

/** The form of a name for messages: printable, and no longer than a line. */
export function shownName(name: string): string {
  const text = JSON.stringify(name.toWellFormed())
  return text.length > 200 ? `${text.slice(0, 200)}..."` : text
}

/**
 * The form of a name in `.checksums`: NFC, with only %, backslash, LF and CR percent-encoded.
 */
export const encodedName = (name: string): string =>
  name.normalize('NFC').replaceAll('%', '%25').replaceAll('\\', '%5C').replaceAll('\n', '%0A').replaceAll('\r', '%0D')

const decoded: Record<string, string> = { '%25': '%', '%5C': '\\', '%0A': '\n', '%0D': '\r' }

/** Decodes a name; null if it is not in the one encoding that the format allows. */
export function decodedName(encoded: string): string | null {
  const name = encoded.replace(/%(?:25|5C|0A|0D)/g, (written) => decoded[written]!)
  return encodedName(name) === encoded ? name : null
}

// Archives are refused because the evidence is read without unpacking, so nothing may be hidden in it.
const archives: readonly (readonly [string, number, Buffer])[] = [
  ['zip', 0, Buffer.from('PK\u0003\u0004')],
  ['zip', 0, Buffer.from('PK\u0005\u0006')],
  ['gzip', 0, Buffer.from([0x1f, 0x8b, 0x08])],
  ['7z', 0, Buffer.from([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c])],
  ['xz', 0, Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00])],
  ['zstd', 0, Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  ['rar', 0, Buffer.from('Rar!\u001a\u0007')],
  ['bzip2', 4, Buffer.from('1AY&SY')],
  ['tar', 257, Buffer.from('ustar')]
]

/** The kind of archive, recognised by its first bytes; null if the file is not an archive. */
export function archiveKind(content: Buffer): string | null {
  const found = archives.find(([, at, magic]) => content.subarray(at, at + magic.length).equals(magic))
  return found?.[0] ?? null
}

/**
 * Refuses a set of files if a name is not allowed, two names are equal (also after NFC, or in another case), a file is the
 * folder of another, or a file is an archive itself.
 * @throws ServiceError `validation_error` naming the entries.
 */
export function checkFiles(files: readonly PackageFile[]): void {
  const taken = new Map<string, string>()
  for (const { name, content } of files) {
    const problem = nameProblem(name)
    if (problem) throw packageFault(`entry ${shownName(name)}: the name ${problem}`)
    if (name === MANIFEST_NAME || name === CHECKSUMS_NAME)
      throw packageFault(`entry ${shownName(name)}: this name is reserved for the package's own file`)
    const folded = foldedName(name)
    const other = taken.get(folded)
    if (other !== undefined)
      throw packageFault(
        other === name
          ? `entry ${shownName(name)} occurs twice`
          : `entries ${shownName(other)} and ${shownName(name)} would be one file on machines that ignore case or Unicode form`
      )
    taken.set(folded, name)
    const kind = archiveKind(content)
    if (kind) throw packageFault(`entry ${shownName(name)} is an archive itself (${kind}): unpack it and add its files`)
  }
  for (const [folded, name] of taken) {
    const folder = foldersOf(folded).find((path) => taken.has(path))
    if (folder !== undefined)
      throw packageFault(`entry ${shownName(name)} is inside ${shownName(taken.get(folder)!)}, which is a file`)
  }
}

const foldersOf = (path: string): string[] => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))

/** Folds names that are the same file on some machine to the same text. */
export const foldedName = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC')
