// The file outside the database to which checkpoints of audit trails are appended, one JSON object per line.
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  type Checkpoint,
  checkpointLine,
  type KeptCheckpoints,
  readCheckpointLine
} from '../../domain/audit/audit-checkpoint.js'

const LINE_END = 0x0a

/** Resolves when the lines are on disk. A line that a crash cut off stays unchanged, and its checkpoint is written again. */
export async function appendCheckpoints(path: string, points: readonly Checkpoint[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'a+', 0o600)
  try {
    const { size } = await file.stat()
    const torn = size > 0 && (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer[0] !== LINE_END
    await file.appendFile(`${torn ? '\n' : ''}${points.map((point) => `${checkpointLine(point)}\n`).join('')}`)
    await file.sync()
    if (size === 0) await syncFolder(dirname(path))
  } finally {
    await file.close()
  }
}

/** Otherwise a crash could lose a new file, even after its content was synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

/**
 * Reads the file line by line, since it grows for as long as the service exists.
 * @param teamId skips lines that do not name this team, even unreadable ones.
 * @throws the error of the system when the file cannot be read.
 */
export async function readCheckpoints(path: string, teamId?: string): Promise<KeptCheckpoints> {
  const read: KeptCheckpoints = { byTeam: new Map(), unreadable: [] }
  const seen = new Set<string>()
  const file = await open(path, 'r')
  try {
    let number = 0
    for await (const line of file.readLines({ autoClose: false })) {
      number++
      if (line === '' || (teamId !== undefined && !line.includes(teamId)) || seen.has(line)) continue
      seen.add(line)
      const point = readCheckpointLine(line)
      const teamPoints = point && read.byTeam.get(point.teamId)
      if (!point) read.unreadable.push(number)
      else if (teamPoints) teamPoints.push(point)
      else read.byTeam.set(point.teamId, [point])
    }
  } finally {
    await file.close()
  }
  return read
}
