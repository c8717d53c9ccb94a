// The largest bodies that routes accept, in bytes.

const KIB = 1024
const MIB = 1024 * KIB

/** The limit of routes that do not set another one. */
export const BODY_MAX = 64 * KIB
export const SUBMISSION_BODY_MAX = 4 * MIB
/** Requests that carry a program: the playground's, and those that save or analyse a script. */
export const PROGRAM_BODY_MAX = 2 * MIB
/** The longest circuit of a telemetry report, in UTF-8, with its counts. */
export const TELEMETRY_BODY_MAX = 512 * KIB
export const PACKAGE_BODY_MAX = 64 * MIB
/** The form around a YAML file counts too; the file itself has a lower limit (yaml-text.ts). */
export const YAML_BODY_MAX = 512 * KIB
