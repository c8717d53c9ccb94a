// A team that has one resource of every kind, created through the API.

import { sql } from 'drizzle-orm'
import { beginJob, completeJob, failJob } from '../../../db/job-steps/job-steps.js'
import { closeAttempt, completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { bellQasm3, submission } from '../jobs/builders.js'
import { type ApiResponse, cookieOf, PASSWORD, type SendRequest, type TestApi, type TestUser } from './api.js'

const fence = { generation: 1 }
const failure = { code: 'execution_error', message: 'line 1: no such gate' } as const

export interface PopulatedTeam {
  owner: TestUser
  member: TestUser
  teamId: string
  /** Waits for its start time in the future. */
  pendingJob: string
  /** With a result and the file `circuit.qasm`. */
  completedJob: string
  failedJob: string
  /** A script of the owner, in OpenQASM. */
  scriptId: string
  /** Another script like it. */
  secondScriptId: string
  /** Capsules of the owner, one in each state. */
  capsules: Record<'draft' | 'runnable' | 'sealed' | 'secondSealed' | 'published', string>
  invitation: { id: string; token: string }
  /** Of tier qpu. */
  apiKey: { id: string; key: string }
  secretId: string
  /** With deliveries that stay unsent. */
  webhookId: string
  /** A delivery of the webhook that has failed. */
  deliveryId: string
  /** A session of the owner other than the one in use. */
  sessionId: string
}

export const later = (): string => new Date(Date.now() + 3_600_000).toISOString()

/**
 * @param wrap can inspect every response.
 * @throws Error for a response without success.
 */
export async function makePopulatedTeam(
  api: TestApi,
  wrap: (ask: SendRequest) => SendRequest = (ask) => ask
): Promise<PopulatedTeam> {
  const { db } = api.database
  const owner = await api.signUp({ admin: true })
  const member = await api.signUp()
  const asOwner = succeeding(wrap(owner.ask))
  const asMember = succeeding(wrap(member.ask))

  const { id: teamId } = await asOwner('POST', '/api/teams', { name: 'a team with everything' })
  const invite = async (email: string) => {
    const { id } = await asOwner('POST', '/api/team/invitations', { team_id: teamId, email, role: 'member' })
    const mail = api.mails.findLast(({ to }) => to === email)!
    return { id: id as string, token: /\/invitations\/([\w-]+)/.exec(mail.text)![1]! }
  }
  const { token } = await invite(member.email)
  await asMember('POST', `/api/invitations/${token}/accept`)
  const invitation = await invite('somebody@example.org')

  const apiKey = await asOwner('POST', '/api/team/api-keys', { team_id: teamId, name: 'ci', tier: 'qpu', kind: 'live' })
  const { secrets } = await asOwner('POST', '/api/team/secrets', {
    team_id: teamId,
    provider: 'ionq',
    secrets: { api_key: 'x'.repeat(32) }
  })
  const webhook = await asOwner('POST', '/api/team/webhooks', {
    team_id: teamId,
    url: 'https://hooks.example.org/x',
    events: ['job.completed', 'job.failed']
  })

  const submit = async (changes: Record<string, unknown> = {}): Promise<string> =>
    (await asOwner('POST', '/api/jobs/submit', submission({ team_id: teamId, ...changes }))).job_id
  const { id: deliveryId } = await asOwner('POST', `/api/team/webhooks/${webhook.id}/test`)
  await db.execute(sql`update webhook_deliveries set state = 'failed' where id = ${deliveryId}`)

  const pendingJob = await submit({ not_before: later(), execution_mode: 'temporal', name: 'later', labels: ['x'] })
  const begun = async (): Promise<[id: string, attempt: number]> => {
    const id = await submit()
    await beginJob(db, id, fence, {})
    return [id, (await openAttempt(db, id, fence))!]
  }
  const [completedJob, first] = await begun()
  const file = { name: 'circuit.qasm', mediaType: 'text/plain; charset=utf-8', content: Buffer.from('OPENQASM 3.0;') }
  const sha256 = await completeAttempt(db, completedJob, first, '{"counts":{"00":100}}', [file])
  await completeJob(db, completedJob, fence, sha256!)
  const [failedJob, second] = await begun()
  await closeAttempt(db, failedJob, second, 'failed', failure)
  await failJob(db, failedJob, fence, failure)

  const script = { team_id: teamId, name: 'A Bell pair', script_content: bellQasm3() }
  const { script_id: scriptId } = await asOwner('POST', '/api/scripts/upload', script)
  const { script_id: secondScriptId } = await asOwner('POST', '/api/scripts/upload', script)

  const made = async (path: string, body: object): Promise<string> =>
    (await asOwner('POST', `/api/capsules/${path}`, body)).capsule_id
  const capsules = {
    draft: await made('create', {
      name: 'a draft',
      team_id: teamId,
      workflow: { tasks: [{ name: 'bell', script_id: scriptId, backend: 'local', parameters: { shots: 10 } }] }
    }),
    runnable: await made('from-job', { job_id: completedJob }),
    sealed: await made('from-job', { job_id: completedJob, seal: true }),
    secondSealed: await made('from-job', { job_id: completedJob, seal: { exit_code: 0, margin: 0.5 } }),
    published: await made('from-job', { job_id: completedJob, seal: true, retention_years: 1 })
  }
  await asOwner('POST', `/api/capsules/${capsules.published}/publish`, { title: 'A Bell pair', description: 'of two' })

  const again = await wrap(api.ask)('POST', '/api/auth/sign-in', { email: owner.email, password: PASSWORD })
  const { sessions } = await succeeding(wrap(api.ask))('GET', '/api/auth/sessions', undefined, {
    cookie: cookieOf(again)
  })
  return {
    owner,
    member,
    teamId,
    pendingJob,
    completedJob,
    failedJob,
    scriptId,
    secondScriptId,
    capsules,
    invitation,
    apiKey,
    secretId: secrets[0].id,
    webhookId: webhook.id,
    deliveryId,
    sessionId: (sessions as { id: string; current: boolean }[]).find(({ current }) => current)!.id
  }
}

/** Returns the body of a successful response. */
function succeeding(ask: SendRequest) {
  return async (...question: Parameters<SendRequest>): Promise<ApiResponse['body']> => {
    const answer = await ask(...question)
    if (answer.status >= 300) throw new Error(`${question[0]} ${question[1]} answered ${answer.status}: ${answer.text}`)
    return answer.body
  }
}
