// How much a capsule holds.

/** Of one capsule's evidence, in bytes: what an archive of it can hold and be imported again. */
export const EVIDENCE_BYTES_MAX = 60 * 1024 * 1024
