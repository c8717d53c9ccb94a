// The memory of an api process, added up. What the network paces and what the processor paces have budgets of their own, so that
// slow readers and senders do not hold up packages, seals and comparisons. docker-compose.yml gives it the sum, and test/compose.test.ts compares the two.
import { EVIDENCE_BYTES_MAX } from '../../../domain/capsules/capsule-size.js'
import { PACKAGE_BODY_MAX } from './body/body-limits.js'

const MIB = 1024 ** 2

/** Larger responses and bodies count against a budget. Sockets of the kernel take smaller ones at once. */
export const LARGE_BYTES = 64 * 1024

export const memory = {
  /** Node, the code, connections, and everything small. */
  base: 320 * MIB,
  /** Large bodies and responses: held for as long as the network takes. */
  transfers: 384 * MIB,
  /** Packages that are read or written, seals and comparisons: held for seconds, unless an export is read slowly. */
  packages: 512 * MIB,
  /** What the collector and the allocator have not given back yet. */
  garbage: 192 * MIB
} as const

/** What one caller can hold of each. It fits the largest single piece. */
export const shares = { transfers: memory.transfers / 3, packages: memory.packages / 2 } as const

/** A JSON body: its bytes twice, its text, and its value. Any other body: its bytes twice. */
export const bodyBytes = (bytes: number, isJson: boolean): number => (isJson ? 4 : 2) * bytes
/**
 * A content that is sent in slices (db/stored-content.ts): two slices, each as hex text and as bytes, and the kernel's buffers
 * of its socket, which count against a container's memory.
 */
export const STREAM_BYTES = 8 * MIB
/** A package while it is read, apart from its own bytes: its inflated files, one of them twice, and the same as text. */
export const IMPORT_BYTES = 3 * PACKAGE_BODY_MAX
/** A seal, or a capsule of a job: the evidence, its copy in the thread, and one file as hex text on its way to Postgres. */
export const SEAL_BYTES = 4 * EVIDENCE_BYTES_MAX
/** A comparison of two results: their bytes here and in the thread, their text, and the counts read from it. */
export const compareBytes = (results: number): number => 10 * results
/** An export: the evidence, and the pieces in flight. */
export const exportBytes = (evidence: number): number => evidence + 4 * MIB

/** Of everyone together, and of one caller. More would wait longer than clients do. */
export const WAITING_MAX = 200
export const WAITING_OF_CALLER_MAX = 50
export const WAIT_MS = 15_000

/** The longest that a large response takes. */
export const DOWNLOAD_LIMIT_MS = 300_000
/** The longest that a reader takes nothing of it. */
export const STALL_LIMIT_MS = 30_000
/** Between two slices of one caller's large responses: 32 MiB a second. */
export const SLICE_MS = 8
/** Between two large JSON bodies of one caller, whose parsing and checks stop all others: 4 MiB a second. */
export const bodyPauseMs = (bytes: number): number => (bytes / (4 * MIB)) * 1_000
