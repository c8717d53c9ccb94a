// The client of the API, over the types of its document. Bodies that are results stay text (see jobs/record/job-record.ts).
import createClient from 'openapi-fetch'
import { refusalOf } from './api-error.js'
import { patientFetch } from './patient-fetch.js'
import type { components, paths } from './schema.js'

export const api = createClient<paths>({ baseUrl: location.origin, fetch: patientFetch })

type Schemas = components['schemas']
export type Team = Schemas['Team']
export type User = Schemas['User']
export type Backend = Schemas['Backend']
export type Budget = Schemas['Budget']
export type Attempt = Schemas['Attempt']
export type Task = Schemas['Task']
/** As lists show it. */
export type JobItem = Schemas['JobSummary']
export type JobStatus = JobItem['status']

interface Outcome<Data> {
  data?: Data
  error?: unknown
  response: Response
}

/** The body of a successful response. @throws ApiError, ConnectionLost. */
export async function bodyOf<Data>(outcome: Promise<Outcome<Data>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await outcome
  if (response.ok) return data as NonNullable<Data>
  throw await refusalOf(
    new Response(JSON.stringify(error ?? null), { status: response.status, headers: response.headers })
  )
}

/** A response of which not everything is read. @throws ApiError, ConnectionLost. */
export async function fetchPart(path: string, signal: AbortSignal): Promise<Response> {
  const response = await patientFetch(new Request(new URL(path, location.origin), { signal }))
  if (!response.ok) throw await refusalOf(response)
  return response
}
