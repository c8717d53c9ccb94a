// The words for what entries of a trail name by ids.
import type { components } from '../api/schema.js'

export type TrailEntry = components['schemas']['TrailEntry']

export const trailActions = {
  'capsule.created': 'created',
  'capsule.updated': 'changed',
  'capsule.deleted': 'deleted',
  'capsule.sealed': 'sealed',
  'capsule.published': 'published',
  'capsule.archived': 'archived',
  'capsule.cloned': 'cloned',
  'capsule.imported': 'imported',
  'capsule.run': 'ran',
  'capsule.verified': 'verified',
  'capsule.schedule.changed': 'schedule set',
  'capsule.schedule.deleted': 'schedule removed',
  'capsule.takedown': 'taken down',
  'account.proved': 'address proved'
} as const satisfies Record<TrailEntry['action'], string>

/** @param names of the actors that are still known. */
export function actorText(actor: string, names: Readonly<Record<string, string>>): string {
  const name = Object.hasOwn(names, actor) ? names[actor] : undefined
  const [kind] = actor.split(':')
  if (kind === 'user') return name ?? 'a user who is not known any more'
  if (kind === 'key') return name === undefined ? 'a key that is not known any more' : `the key ${name}`
  return kind === 'admin' ? 'a platform administrator' : 'the service'
}

export const stateText = ({ previous_state, new_state }: TrailEntry): string =>
  previous_state === new_state ? (new_state ?? '') : `${previous_state ?? 'nothing'} → ${new_state ?? 'nothing'}`
