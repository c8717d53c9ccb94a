// Databases and files for tests of backups.
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import postgres from 'postgres'
import { extract } from 'tar-stream'
import { createArchive } from '../../apps/cli/backup/archive-writer.js'
import { ensureDatabase } from '../../apps/cli/stack/parts/postgres.js'
import { type Connection, connect } from '../../db/client.js'

export interface EmptyDatabase {
  url: string
  /** Opens it for looks at what was restored. */
  open(): Connection
  close(): Promise<void>
}

/** An empty database of a role that is no superuser, as on a server of somebody else's. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const name = `t_restored_${randomBytes(4).toString('hex')}`
  const url = await ensureDatabase(process.env.TEST_PG_URL!, name, 'a-password')
  const opened: Connection[] = []
  return {
    url,
    open() {
      const connection = connect(url, { max: 4 })
      opened.push(connection)
      return connection
    },
    async close() {
      for (const connection of opened) await connection.close()
      const sql = postgres(process.env.TEST_PG_URL!, { max: 1, onnotice: () => {} })
      await sql.unsafe(`drop database if exists ${name} with (force)`)
      await sql.unsafe(`drop role ${name}`)
      await sql.end()
    }
  }
}

export interface Entry {
  name: string
  content: Buffer
}

export async function entriesOf(file: string): Promise<Entry[]> {
  const tar = extract()
  const flow = pipeline(createReadStream(file), createGunzip(), tar)
  const entries: Entry[] = []
  for await (const entry of tar) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    entries.push({ name: entry.header.name, content: Buffer.concat(chunks) })
  }
  await flow
  return entries
}

export async function writeEntries(file: string, entries: readonly Entry[]): Promise<void> {
  const archive = createArchive(new Date(0))
  const flow = pipeline(archive.bytes, createWriteStream(file))
  for (const { name, content } of entries) await archive.add(name, content)
  archive.end()
  await flow
}

/** Entries whose manifest agrees with them, as a forger makes it; their seal does not. */
export function withDigests(entries: readonly Entry[]): Entry[] {
  const content = entries.filter(({ name }) => !['manifest.json', 'seal.json'].includes(name))
  const manifest = JSON.parse(entries.find(({ name }) => name === 'manifest.json')!.content.toString())
  manifest.files = content.map(({ name, content: bytes }) => ({
    name,
    size_bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex')
  }))
  const head = JSON.parse(content.find(({ name }) => name === 'head.json')!.content.toString())
  const tables = manifest.tables
  Object.assign(manifest, head, { tables })
  const seal = entries.filter(({ name }) => name === 'seal.json')
  return [...content, { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) }, ...seal]
}
