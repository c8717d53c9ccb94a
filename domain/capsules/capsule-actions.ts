// What can be done with a capsule in which state, and by which members of its team.

import { ServiceError } from '../errors.js'
import type { CapsuleState } from './capsule-state.js'

export const capsuleActions = [
  'read',
  'update',
  'delete',
  'seal',
  'publish',
  'archive',
  'run',
  'clone',
  'export',
  'schedule'
] as const
export type CapsuleAction = (typeof capsuleActions)[number]

/** `owner` is the owner of the capsule. `manager` is its owner, or the owner or an admin of its team. */
type CapsuleActor = 'member' | 'owner' | 'manager'

const any: readonly CapsuleState[] = ['draft', 'runnable', 'sealed', 'published', 'archived']

const rules: Readonly<Record<CapsuleAction, { in: readonly CapsuleState[]; by: CapsuleActor }>> = {
  read: { in: any, by: 'member' },
  update: { in: ['draft'], by: 'owner' },
  delete: { in: ['draft', 'runnable'], by: 'owner' },
  seal: { in: ['draft', 'runnable'], by: 'manager' },
  publish: { in: ['sealed'], by: 'manager' },
  archive: { in: ['sealed'], by: 'manager' },
  run: { in: any, by: 'member' },
  clone: { in: any, by: 'member' },
  export: { in: any, by: 'member' },
  schedule: { in: ['sealed', 'published'], by: 'manager' }
}

const whoMay = (action: CapsuleAction): CapsuleActor => rules[action].by

export const isAllowedIn = (action: CapsuleAction, state: CapsuleState): boolean => rules[action].in.includes(state)

const past: Readonly<Record<CapsuleAction, string>> = {
  read: 'read',
  update: 'changed',
  delete: 'deleted',
  seal: 'sealed',
  publish: 'published',
  archive: 'archived',
  run: 'run',
  clone: 'cloned',
  export: 'exported',
  schedule: 'scheduled'
}

/** @throws ServiceError `permission_denied` that names the current state. */
export function assertState(action: CapsuleAction, state: CapsuleState): void {
  if (isAllowedIn(action, state)) return
  const states = rules[action].in
  const allowed = states.length === 1 ? states[0] : `${states.slice(0, -1).join(', ')} or ${states.at(-1)}`
  throw new ServiceError(
    'permission_denied',
    `This capsule is ${state}; only a ${allowed} capsule can be ${past[action]}`
  )
}

/** What the rights of a caller depend on. An API key acts as its creator, and at most as a member. */
export interface CapsuleStanding {
  isOwner: boolean
  /** The caller is the team's owner or an admin. */
  managesTeam: boolean
  /** Whether the caller owns the team, and the owner of the capsule has left it. */
  inheritsIt: boolean
}

/** @throws ServiceError `permission_denied`. */
export function assertMay(action: CapsuleAction, { isOwner, managesTeam, inheritsIt }: CapsuleStanding): void {
  const by = whoMay(action)
  if (by === 'member' || isOwner || inheritsIt || (by === 'manager' && managesTeam)) return
  throw new ServiceError(
    'permission_denied',
    by === 'owner'
      ? `Only the owner of a capsule may ${verb[action]} it`
      : `Only the owner of a capsule, or the owner or an admin of its team, may ${verb[action]} it`
  )
}

const verb: Readonly<Record<CapsuleAction, string>> = {
  read: 'read',
  update: 'change',
  delete: 'delete',
  seal: 'seal',
  publish: 'publish',
  archive: 'archive',
  run: 'run',
  clone: 'clone',
  export: 'export',
  schedule: 'schedule'
}
