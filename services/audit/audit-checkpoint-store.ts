// Checkpoints of audit trails in the content store, each in an object of its own: several workers write them, and every api
// reads them all.
import pLimit from 'p-limit'
import type { ContentStore } from '../../db/content-store.js'
import {
  type Checkpoint,
  checkpointKey,
  checkpointLine,
  type KeptCheckpoints,
  readCheckpointKey
} from '../../domain/audit/audit-checkpoint.js'

/** Beside the folders of contents, whose names have two characters. */
const FOLDER = 'audit-checkpoints/'
/** Where the store locks objects. */
const KEPT_YEARS = 10
const WRITES_AT_ONCE = 8

/** Resolves when the store has confirmed all of them. */
export async function storeCheckpoints(store: ContentStore, points: readonly Checkpoint[]): Promise<void> {
  const keepUntil = new Date()
  keepUntil.setFullYear(keepUntil.getFullYear() + KEPT_YEARS)
  const turn = pLimit(WRITES_AT_ONCE)
  const write = (point: Checkpoint) =>
    turn(() => store.write(FOLDER + checkpointKey(point), Buffer.from(`${checkpointLine(point)}\n`), keepUntil))
  await Promise.all(points.map(write))
}

/**
 * @param teamId of this team alone.
 * @returns `null` when the store has no checkpoint of any team.
 * @throws ServiceError `content_store_unavailable`
 */
export async function storedCheckpoints(store: ContentStore, teamId?: string): Promise<KeptCheckpoints | null> {
  const kept: KeptCheckpoints = { byTeam: new Map(), unreadable: [] }
  let number = 0
  for await (const key of store.list(teamId === undefined ? FOLDER : `${FOLDER}${teamId}/`)) {
    number++
    const point = readCheckpointKey(key.slice(FOLDER.length))
    const ofTeam = point && kept.byTeam.get(point.teamId)
    if (!point) kept.unreadable.push(number)
    else if (ofTeam) ofTeam.push(point)
    else kept.byTeam.set(point.teamId, [point])
  }
  if (number > 0) return kept
  for await (const _ of teamId === undefined ? [] : store.list(FOLDER)) return kept
  return null
}
