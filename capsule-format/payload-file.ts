// The files of a package, and the rules that their names keep (docs/capsules/capsule-format.md, "Names of files").
import { ServiceError } from '../domain/errors.js'

/** `name`: a relative path with `/`. */
export interface PackageFile {
  name: string
  content: Buffer
}

/** What is wrong with a package, named; an answer of 400. */
export const packageFault = (message: string): ServiceError => new ServiceError('validation_error', message)

export const MANIFEST_NAME = 'capsule.yaml'
export const CHECKSUMS_NAME = '.checksums'
const ENCODED_BYTES_MAX = 4096
const FOLDERS_MAX = 64

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const controls = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f]/

/** Why a file may not have this name; null when it may. Never a matter of the disk: nothing is ever written there. */
export function nameProblem(name: string): string | null {
  if (name === '') return 'is empty'
  if (!name.isWellFormed()) return 'holds half of a character (a lone surrogate)'
  if (controls.test(name)) return 'holds a control character'
  if (name.startsWith('/') || name.startsWith('\\') || /^[A-Za-z]:/.test(name)) return 'is an absolute path'
  const segments = name.split('/')
  if (segments.length > FOLDERS_MAX) return `lies more than ${FOLDERS_MAX} folders deep`
  if (segments.some((segment) => segment === '' || segment === '.'))
    return 'has an empty segment or one that is only a dot'
  // A backslash is a character of a name here and a separator on other machines: neither reading may lead out.
  if (name.split(/[/\\]/).some((segment) => segment.normalize('NFKC') === '..' || segment === '..'))
    return 'leads out of its folder (..)'
  if (Buffer.byteLength(encodedName(name)) > ENCODED_BYTES_MAX) return `is longer than ${ENCODED_BYTES_MAX} bytes`
  return null
}

/** A name as messages show it: printable, and no longer than a line. */
export function shownName(name: string): string {
  const text = JSON.stringify(name.toWellFormed())
  return text.length > 200 ? `${text.slice(0, 200)}..."` : text
}

/**
 * The name that stands in `.checksums`: NFC, and only %, backslash, LF and CR are percent-encoded.
 */
export const encodedName = (name: string): string =>
  name.normalize('NFC').replaceAll('%', '%25').replaceAll('\\', '%5C').replaceAll('\n', '%0A').replaceAll('\r', '%0D')

const decoded: Record<string, string> = { '%25': '%', '%5C': '\\', '%0A': '\n', '%0D': '\r' }

/** The name that an encoded one stands for; null when it is not in the one encoding that the format knows. */
export function decodedName(encoded: string): string | null {
  const name = encoded.replace(/%(?:25|5C|0A|0D)/g, (written) => decoded[written]!)
  return encodedName(name) === encoded ? name : null
}

// What a reader would have to open to see inside: the evidence is read as it is, so nothing may hide in it.
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

/** The kind of archive that a file is, told by its first bytes; null when it is none. */
export function archiveKind(content: Buffer): string | null {
  const found = archives.find(([, at, magic]) => content.subarray(at, at + magic.length).equals(magic))
  return found?.[0] ?? null
}

/**
 * Refuses a set of files in which one has no proper name, two have one name (also after NFC, or in another case), one lies
 * in another, or one is an archive itself.
 * @throws ServiceError `validation_error` naming the entries.
 */
export function checkFiles(files: readonly PackageFile[]): void {
  const taken = new Map<string, string>()
  for (const { name, content } of files) {
    const problem = nameProblem(name)
    if (problem) throw packageFault(`entry ${shownName(name)}: its name ${problem}`)
    if (name === MANIFEST_NAME || name === CHECKSUMS_NAME)
      throw packageFault(`entry ${shownName(name)}: this name is kept for the package's own file`)
    const folded = foldedName(name)
    const other = taken.get(folded)
    if (other !== undefined)
      throw packageFault(
        other === name
          ? `entry ${shownName(name)} stands twice`
          : `entries ${shownName(other)} and ${shownName(name)} would be one file where case or Unicode form do not count`
      )
    taken.set(folded, name)
    const kind = archiveKind(content)
    if (kind) throw packageFault(`entry ${shownName(name)} is itself an archive (${kind}): put its files in unpacked`)
  }
  for (const [folded, name] of taken) {
    const folder = foldersOf(folded).find((path) => taken.has(path))
    if (folder !== undefined)
      throw packageFault(`entry ${shownName(name)} lies in ${shownName(taken.get(folder)!)}, which is a file`)
  }
}

const foldersOf = (path: string): string[] => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))

/** Names that are one file on some machine fold to one text. */
export const foldedName = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC')
