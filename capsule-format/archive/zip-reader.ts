// Reads a zip of plain files and checks each against the size and the CRC that the archive states.
import { crc32 } from 'node:zlib'
import { packageFault, shownName } from '../payload-file.js'
import { type ArchiveEntries, inflated, type PackageLimits, takeEntry, tooLarge } from './archive-entries.js'
import { STORED, type ZipPlace, zipPlaces } from './zip-layout.js'

/** @throws ServiceError `validation_error` naming the entry. */
export async function readZip(bytes: Buffer, limits: PackageLimits): Promise<ArchiveEntries> {
  try {
    return await zipEntries(await zipPlaces(bytes, limits.entries), limits)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'validation_error') throw error
    throw packageFault(`the archive is not a zip, or is damaged: ${(error as Error).message.slice(0, 200)}`)
  }
}

async function zipEntries(places: readonly ZipPlace[], limits: PackageLimits): Promise<ArchiveEntries> {
  const entries: ArchiveEntries = new Map()
  const taken = new Set<string>()
  let total = 0
  for (const place of places) {
    const { name } = place
    if (place.entry.uncompressedSize > limits.fileBytes) throw tooLarge(name, limits)
    total += place.entry.uncompressedSize
    if (total > limits.totalBytes) throw packageFault(`the archive holds more than ${limits.totalBytes} bytes`)
    const content = await unpacked(place)
    const folder = name.endsWith('/')
    if (folder && content.length > 0) throw packageFault(`entry ${shownName(name)}: a folder with content`)
    takeEntry(entries, taken, name, folder ? null : content)
  }
  return entries
}

/** Inflates no more bytes than the archive states. */
async function unpacked({ entry, name, packed }: ZipPlace): Promise<Buffer> {
  const what = `entry ${shownName(name)}`
  const content =
    entry.compressionMethod === STORED ? packed : await inflated('deflate', packed, entry.uncompressedSize, what)
  if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32)
    throw packageFault(`${what}: is damaged`)
  return content
}
