// The kinds of callers, what a request of theirs is about, and how a question to a route is put.

export const kinds = [
  'anonymous',
  'outsider',
  'former member',
  'member',
  'admin',
  'owner',
  'owner of a suspended team',
  'key of another team',
  'read key',
  'simulate key',
  'qpu key',
  'platform administrator'
] as const
export type Kind = (typeof kinds)[number]

export const keysOfTheTeam: Kind[] = ['read key', 'simulate key', 'qpu key']
export const strangers: Kind[] = ['outsider', 'former member', 'key of another team', 'platform administrator']
export const everybody = [...kinds]
export const people = kinds.filter((kind) => kind !== 'anonymous' && !kind.includes('key'))
export const peopleOrKeys = kinds.filter((kind) => kind !== 'anonymous')
export const readers: Kind[] = ['member', 'admin', 'owner', 'owner of a suspended team', ...keysOfTheTeam]
export const writers: Kind[] = ['member', 'admin', 'owner', 'simulate key', 'qpu key']
export const managers: Kind[] = ['admin', 'owner']
export const managersReading: Kind[] = [...managers, 'owner of a suspended team']
export const owner: Kind[] = ['owner']
/** The owner of a thing, and what a key of theirs may do with it. */
export const ownerOfIt: Kind[] = ['owner', 'simulate key', 'qpu key']
/** Those, and the admins of its team. */
export const managersOfIt: Kind[] = ['admin', ...ownerOfIt]
export const platform: Kind[] = ['platform administrator']

/** What a request is about: a team made for it alone, and things of it. */
export interface Scene {
  teamId: string
  ownerId: string
  memberId: string
  job(): Promise<string>
  /** Over, so that a stream of its events ends. */
  finishedJob(): Promise<string>
  /** The owner's, with inline code. */
  completedJob(): Promise<string>
  /** The owner's: a Bell pair in OpenQASM. */
  script(): Promise<string>
  /** The owner's draft, without tasks. */
  capsule(): Promise<string>
  /** The owner's, with evidence unless it is a draft. */
  capsuleIn(state: 'draft' | 'runnable' | 'sealed' | 'scheduled' | 'published'): Promise<string>
  invitation(): Promise<{ id: string; token: string }>
  apiKey(): Promise<string>
  secret(): Promise<string>
  webhook(): Promise<string>
  session(): Promise<string>
}

export interface Question {
  allowed: Kind[]
  /** Of an answer to somebody who may. */
  status: number | number[]
  path?: (scene: Scene) => string | Promise<string>
  /** May be a promise. */
  body?: (scene: Scene) => unknown
  /** Beside those that say who asks. */
  headers?: Record<string, string>
}

export const inTeam = (path: string) => (scene: Scene) => `${path}?team_id=${scene.teamId}`
