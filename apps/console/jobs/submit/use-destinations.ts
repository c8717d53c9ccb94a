// Where a job can run, as the service judges it: each backend with its price, its queue, and why it would be refused there.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { stringify } from 'lossless-json'
import { useRef } from 'react'
import { api, type Budget, bodyOf } from '../../api/client.js'
import type { components } from '../../api/schema.js'
import { useQuiet } from './use-quiet.js'

export type Destination = components['schemas']['Destination']

/** Queues and limits change while a form is open. */
const AGAIN_MS = 30_000
const SHOTS_OF_A_LIST = '1000'

/** The submission, as far as the form knows it. */
export interface Planned {
  /** As typed; those of a list count while they are not a number. */
  shots: string
  /** Besides shots and seed. The same object for the same parameters. */
  params: object
  /** `null` where its width is not known. */
  qubits: number | null
  /** The submitter's own cap, as typed; it does not count while it is no amount. */
  maxCost: string
  isAnalog: boolean
}

export interface Where {
  /** Empty until they are known. */
  destinations: readonly Destination[]
  budget: Budget | null
  /** Whether prices and refusals are those of what is typed: else it was refused, and the backends are those of before. */
  isJudged: boolean
  error: unknown
}

export function useDestinations(planned: Planned, team: { team_id?: string }): Where {
  const { qubits, isAnalog } = planned
  const params = useQuiet(planned.params)
  const shots = useQuiet(/^\d{1,9}$/.test(planned.shots) && Number(planned.shots) > 0 ? planned.shots : SHOTS_OF_A_LIST)
  const maxCost = useQuiet(/^\d{1,7}(\.\d{1,6})?$/.test(planned.maxCost) ? planned.maxCost : '')
  const { data, error } = useQuery({
    queryKey: ['destinations', team, shots, numberOf(params), qubits, maxCost, isAnalog],
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
    queryFn: ({ signal }) => {
      const body = {
        ...team,
        params: { ...params, shots: Number(shots) },
        ...(qubits !== null && { qubits }),
        ...(maxCost !== '' && { max_cost_usd: Number(maxCost) }),
        ...(isAnalog && { program: 'analog' as const })
      }
      return bodyOf(api.POST('/api/jobs/destinations', { body, bodySerializer: textOf, signal }))
    }
  })
  const last = useRef(data)
  if (data) last.current = data
  return {
    destinations: last.current?.destinations ?? [],
    budget: last.current?.budget ?? null,
    isJudged: data !== undefined,
    error
  }
}

const textOf = (body: unknown): string => stringify(body) ?? ''

const numbers = new WeakMap<object, number>()
let given = 0

/** Parameters can be megabytes of points, which no key of a query should hold. */
function numberOf(params: object): number {
  const known = numbers.get(params) ?? ++given
  numbers.set(params, known)
  return known
}

/** In the service's words. */
export const reasonOf = ({ refusals }: Destination): string => refusals.map(({ message }) => message).join('; ')

/** The one that is chosen, else the first that can run it. @param chosen '' for none. */
export function chosenOf({ destinations }: Where, chosen: string): { backend: string; destination?: Destination } {
  const first = destinations.find(({ available }) => available) ?? destinations[0]
  const backend = chosen || first?.backend || ''
  const destination = destinations.find((one) => one.backend === backend)
  return { backend, ...(destination && { destination }) }
}

/** Why the service would refuse the job there now; `null` where it would not, and where it is not known. */
export const refusedThere = ({ isJudged }: Where, destination: Destination | undefined): string | null =>
  isJudged && destination && !destination.available ? reasonOf(destination) : null
