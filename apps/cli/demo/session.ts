// A signed-in user of the public HTTP API, with a cookie and JSON like a browser.
import type { CapsuleRecord, CapsuleRun } from '../capsules/capsule-record.js'

const requestLimitMs = 30_000

export interface JobRecord {
  id: string
  status: string
  status_reason: string | null
  created_at: string
  started_at: string | null
  completed_at: string | null
  estimated_cost_usd: number
  actual_cost_usd: number | null
  result: { counts: Record<string, number> } | null
  error: { code: string; message: string } | null
  workflow: { id: string; url: string | null } | null
}

export interface Attempt {
  number: number
  state: string
  started_at: string
  ended_at: string | null
  error: { code: string; message: string } | string | null
}

export interface Budget {
  day: { remaining_usd: number }
  month: { remaining_usd: number }
}

export class Session {
  private cookie = ''

  constructor(readonly url: string) {}

  async signUp(email: string, password: string, code: string): Promise<void> {
    await this.call('POST', '/api/auth/sign-up', { email, password, code })
  }

  async submit(body: Record<string, unknown>): Promise<string> {
    return (await this.call<{ job_id: string }>('POST', '/api/jobs/submit', body)).job_id
  }

  job(id: string): Promise<JobRecord> {
    return this.call('GET', `/api/jobs/${id}`)
  }

  /** The status, returned as soon as it changes or after `waitSeconds`. */
  async status(id: string, waitSeconds: number): Promise<string> {
    return (await this.call<{ status: string }>('GET', `/api/jobs/${id}/status?wait=${waitSeconds}`)).status
  }

  async attempts(id: string): Promise<Attempt[]> {
    return (await this.call<{ attempts: Attempt[] }>('GET', `/api/jobs/${id}/attempts`)).attempts
  }

  /** @returns the id of the capsule. */
  async sealJob(jobId: string): Promise<string> {
    const body = { job_id: jobId, seal: true }
    return (await this.call<{ capsule_id: string }>('POST', '/api/capsules/from-job', body)).capsule_id
  }

  capsule(id: string): Promise<CapsuleRecord> {
    return this.call('GET', `/api/capsules/${id}`)
  }

  /** Runs a sealed capsule again, to compare. @returns the id of the run. */
  async verify(id: string): Promise<string> {
    const path = `/api/capsules/${id}/run`
    return (await this.call<{ capsule_run_id: string }>('POST', path, { mode: 'verify' })).capsule_run_id
  }

  capsuleRun(id: string, runId: string): Promise<CapsuleRun> {
    return this.call('GET', `/api/capsules/${id}/runs/${runId}`)
  }

  budget(): Promise<Budget> {
    return this.call('GET', '/api/team/budget')
  }

  // The demo's own stack is trusted to respond as specified; an error has the service's message.
  private async call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(this.cookie && { cookie: this.cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' })
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(requestLimitMs)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text.slice(0, 500)}`)
    for (const cookie of response.headers.getSetCookie()) this.cookie = cookie.split(';', 1)[0] ?? ''
    return JSON.parse(text)
  }
}
