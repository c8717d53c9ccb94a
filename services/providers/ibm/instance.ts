// The instance of IBM Quantum in which a job runs, by its CRN. Hosts come from a fixed table by the region in the CRN.
import { type Credentials, missingForJob } from '../../../domain/backends/provider-credentials.js'
import { type Located, ProviderFault } from '../adapter.js'

export interface Instance {
  crn: string
  region: string
}

/** An API key, in one instance. */
export interface Session {
  apiKey: string
  instance: Instance
}

/** IBM's regions (September 2026). */
const addresses: Readonly<Record<string, string>> = {
  'us-east': 'https://quantum.cloud.ibm.com/api/v1',
  'eu-de': 'https://eu-de.quantum.cloud.ibm.com/api/v1'
}

const crnPattern = /^crn:v1:[\w-]+:[\w-]+:quantum-computing:([a-z0-9-]+):a\/[\w-]+:[\w-]+::$/

const setInstance = "set instance in the team's ibm-quantum credentials to the CRN of an instance"

export const addressOf = ({ region }: Instance): string => addresses[region]!

/** @throws ProviderFault `refused` with what to set. */
export function instanceOf(credentials: Credentials): Instance {
  const missing = missingForJob('ibm-quantum', Object.keys(credentials), { deviceType: 'qpu' })
  if (missing) throw new ProviderFault('refused', missing)
  return instanceByCrn(credentials.instance!)
}

function instanceByCrn(crn: string): Instance {
  const region = crnPattern.exec(crn)?.[1]
  if (region === undefined)
    throw new ProviderFault('refused', `The instance is a path hub/group/project, which IBM has ended: ${setInstance}`)
  if (!Object.hasOwn(addresses, region))
    throw new ProviderFault(
      'refused',
      `The instance is in ${region}, and IBM Quantum is offered in ${Object.keys(addresses).join(', ')}: ${setInstance} there`
    )
  return { crn, region }
}

/** A job stays in the instance of its submission, whatever instance the credentials name later. */
export const sessionOf = ({ credentials, place }: Located): Session => ({
  apiKey: apiKeyOf(credentials),
  instance: place.account === undefined ? instanceOf(credentials) : instanceByCrn(place.account)
})

/** The team can have deleted it since. */
function apiKeyOf({ token }: Credentials): string {
  if (token !== undefined) return token
  throw new ProviderFault('unauthorized', "The token is gone: set token in the team's ibm-quantum credentials")
}

/** What a team can do when its present key does not show a job of an instance that it no longer names. */
export function adviceFor({ credentials, place }: Located, error: unknown): unknown {
  const isHidden = error instanceof ProviderFault && (error.kind === 'unauthorized' || error.kind === 'not_found')
  if (!isHidden || place.account === undefined || place.account === credentials.instance) return error
  return new ProviderFault(
    'unauthorized',
    `${error.message}; the job is in the instance ${place.account}, which the team's ibm-quantum credentials no longer name: store a token that opens it`
  )
}
