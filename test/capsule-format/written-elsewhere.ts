// Runs as a separate program in another time zone and language, and prints the digests of what it writes.
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { writeCapsuleArchive } from '../../capsule-format/archive/capsule-archive.js'
import { sealPackage } from '../../capsule-format/package.js'
import { writeRoCrate } from '../../capsule-format/ro-crate.js'
import { sealInput } from './sample.js'

async function main(): Promise<void> {
  const input = sealInput()
  const sealed = await sealPackage(input)
  const archive = await buffer(writeCapsuleArchive(input.name, sealed))
  const crate = await buffer(writeRoCrate({ ...sealed, envelope: '{}', publicKeyPem: null }))
  const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
  process.stdout.write(JSON.stringify([sealed.capsuleDigest, digest(archive), digest(crate)]))
}

void main()
