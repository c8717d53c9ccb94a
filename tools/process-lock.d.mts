/** A process, named so that a reused id is not mistaken for it. */
export interface ProcessIdentity {
  pid: number
  start: string
}

export interface Holder extends ProcessIdentity {
  since: string
  purpose: string
}

export function startOf(pid: number): string | null
export function isRunning(identity: ProcessIdentity): boolean
export function readHolder(file: string): Holder | null
export function takeLock(file: string, purpose: string): { release: () => void } | { heldBy: Holder }
