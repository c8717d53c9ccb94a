import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.js'
import type { components } from '../api/schema.js'
import type { TrailFilters } from './trail-filters.js'
import type { TrailEntry } from './trail-texts.js'

export type Proof = components['schemas']['TrailReport']

const PAGE = 100

interface TeamParam {
  team_id?: string
}

/**
 * Newest first. Each page begins below the last entry of the page before, so entries that are added meanwhile move nothing; a
 * page that was read stays true, since entries never change.
 */
export const trailQuery = (team: TeamParam, filters: TrailFilters) =>
  infiniteQueryOptions({
    queryKey: ['trail', team, filters],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    initialPageParam: filters.entry ?? null,
    queryFn: ({ pageParam, signal }: { pageParam: number | null; signal: AbortSignal }) => {
      const { action, from, to, capsule } = filters
      const query = {
        ...team,
        limit: PAGE,
        // The address can hold an action that does not exist: the service says so.
        ...(action !== undefined && { action: action as TrailEntry['action'] }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        ...(capsule !== undefined && { capsule_id: capsule }),
        ...(pageParam !== null && { seq_max: pageParam })
      }
      return bodyOf(api.GET('/api/team/audit', { params: { query }, signal }))
    },
    getNextPageParam: ({ entries }) => {
      const last = entries.at(-1)
      return entries.length < PAGE || !last || last.seq === 1 ? null : last.seq - 1
    }
  })

/** The entry with a number; `null` where the trail lacks it. */
export const entryQuery = (team: TeamParam, seq: number) =>
  queryOptions({
    queryKey: ['trail entry', team, seq],
    queryFn: async ({ signal }) => {
      const query = { ...team, seq_max: Math.max(1, seq), limit: 1 }
      const { entries, actors } = await bodyOf(api.GET('/api/team/audit', { params: { query }, signal }))
      const [entry] = entries
      return entry?.seq === seq ? { entry, actors } : null
    }
  })

const VERIFY = '/api/team/audit/verify'

export interface ProofProgress {
  entries: number
  of: number
}

/** Proves the trail. @param onProgress is told how far it is, where the service can say so. */
export async function prove(team: TeamParam, onProgress: (progress: ProofProgress) => void): Promise<Proof> {
  const told = await proofAsStream(`${VERIFY}?${new URLSearchParams({ ...team })}`, onProgress)
  // A stream cannot say why it was refused or has failed. Text is the answer to those who take a stream.
  return told ?? ((await bodyOf(api.GET(VERIFY, { params: { query: team } }))) as Proof)
}

const proofAsStream = (address: string, onProgress: (progress: ProofProgress) => void): Promise<Proof | null> =>
  new Promise((resolve) => {
    const source = new EventSource(address)
    const end = (proof: Proof | null) => {
      source.close()
      resolve(proof)
    }
    source.addEventListener('progress', ({ data }) => onProgress(JSON.parse(data) as ProofProgress))
    source.addEventListener('report', ({ data }) => end(JSON.parse(data) as Proof))
    source.onerror = () => end(null)
  })
