// The kinds of callers, the scene that a request of theirs is about, and the case that tests a route with them.

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
export const everyKind = [...kinds]
export const people = kinds.filter((kind) => kind !== 'anonymous' && !kind.includes('key'))
export const peopleOrKeys = kinds.filter((kind) => kind !== 'anonymous')
export const readers: Kind[] = ['member', 'admin', 'owner', 'owner of a suspended team', ...keysOfTheTeam]
export const writers: Kind[] = ['member', 'admin', 'owner', 'simulate key', 'qpu key']
export const managers: Kind[] = ['admin', 'owner']
export const managersReading: Kind[] = [...managers, 'owner of a suspended team']
export const owner: Kind[] = ['owner']
/** The owner of a thing, and the owner's keys. */
export const ownerOfIt: Kind[] = ['owner', 'simulate key', 'qpu key']
/** The same, and the admins of its team. */
export const managersOfIt: Kind[] = ['admin', ...ownerOfIt]
export const platform: Kind[] = ['platform administrator']

/** What a request is about: a team created for it, and resources of that team. */
export interface Scene {
  teamId: string
  ownerId: string
  memberId: string
  job(): Promise<string>
  /** A finished job, so that a stream of its events ends. */
  finishedJob(): Promise<string>
  /** A job of the owner with inline code. */
  completedJob(): Promise<string>
  /** A script of the owner: a Bell pair in OpenQASM. */
  script(): Promise<string>
  /** A draft of the owner without tasks. */
  capsule(): Promise<string>
  /** A capsule of the owner, with evidence unless it is a draft. */
  capsuleIn(state: 'draft' | 'runnable' | 'sealed' | 'scheduled' | 'published'): Promise<string>
  invitation(): Promise<{ id: string; token: string }>
  apiKey(): Promise<string>
  secret(): Promise<string>
  webhook(): Promise<string>
  delivery(webhookId: string): Promise<string>
  session(): Promise<string>
}

export interface RouteCase {
  allowed: Kind[]
  /** The status for callers who are allowed. */
  status: number | number[]
  path?: (scene: Scene) => string | Promise<string>
  /** May be a promise. */
  body?: (scene: Scene) => unknown
  /** In addition to those of the caller. */
  headers?: Record<string, string>
}

export const inTeam = (path: string) => (scene: Scene) => `${path}?team_id=${scene.teamId}`
