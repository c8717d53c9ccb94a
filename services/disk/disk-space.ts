// Whether a disk of the service is full: as a failed write reported it, or as the file systems of its folders show it.
import { statfsSync } from 'node:fs'
import { errorKind, isDiskFull } from '../../domain/operations/error-kind.js'

/** Postgres stops when it cannot write its log ahead, which it extends by 16 MiB at a time. */
const FREE_MIN_BYTES = 64 * 1024 * 1024
/** How long a failed write counts: nothing shows the free space of a database on another machine. */
const RECENT_MS = 30_000

export interface DiskSpace {
  /** Whether the error comes from a full disk. Remembers it. */
  causes(error: unknown): boolean
  /** What is full, without names of this machine; `null` if nothing is. */
  problem(): string | null
}

export interface DiskSpaceOptions {
  /** Folders of the service on this machine: databases, logs. */
  folders: readonly string[]
  log: { error(facts: object, message: string): void }
  clock?: () => number
  recentMs?: number
}

export function createDiskSpace(options: DiskSpaceOptions): DiskSpace {
  const { folders, log, clock = () => performance.now(), recentMs = RECENT_MS } = options
  let failedAt = Number.NEGATIVE_INFINITY

  function problem(): string | null {
    if (clock() - failedAt < recentMs) return 'the disk of the database is full: free space on it'
    if (folders.every((folder) => freeBytes(folder) >= FREE_MIN_BYTES)) return null
    return `the disk of the service has less than ${FREE_MIN_BYTES / 1024 ** 2} MiB left: free space on it`
  }

  return {
    causes(error) {
      if (isDiskFull(error)) {
        if (problem() === null) log.error({ err: error }, 'the disk is full: writes are refused until there is space')
        failedAt = clock()
        return true
      }
      // Postgres stops when it cannot write its log.
      return errorKind(error) === 'away' && problem() !== null
    },
    problem
  }
}

/** Infinite for a folder that cannot be looked at: an absent folder is not a full disk. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
