// `can`: nothing that a record offers is refused, and what it withholds is refused in its words.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { assertSendsAgain, TAKEN_SECONDS } from '../../../domain/teams/webhook.js'
import { createAccessScenes } from '../../support/api/access-scenes.js'
import { type ApiResponse, startApi } from '../../support/api/api.js'
import type { Kind, Scene } from '../../support/api/callers.js'
import { addFinishedJob } from '../../support/capsules/capsule-rows.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('team_actions')
const { db } = api.database
afterAll(() => api.close())
const { cast, stage } = await createAccessScenes(db)

const kinds: Kind[] = ['member', 'admin', 'owner', 'owner of a suspended team', 'simulate key']

type Verdict = true | string
type Request = [method: string, path: string, body?: unknown]
/** A list of the team, an item of it, and the request of each of its actions. */
interface Record_ {
  list: string
  item: (body: ApiResponse['body'], scene: Scene) => { can: Record<string, Verdict> } | undefined
  actions: (scene: Scene) => Promise<Record<string, Request>>
}

const newKey = (teamId: string) => ({ team_id: teamId, name: 'k', tier: 'read', kind: 'live' })
const credentials = (teamId: string) => ({ team_id: teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } })
const newWebhook = (teamId: string) => ({ team_id: teamId, url: 'https://h.example.org/', events: ['job.failed'] })

const memberRecord = (who: (scene: Scene) => string): Record_ => ({
  list: '/api/team/members',
  item: ({ members }, scene) => members.find(({ user_id }: { user_id: string }) => user_id === who(scene)),
  actions: async (scene) => {
    const { teamId } = scene
    const path = `/api/team/members/${who(scene)}`
    return {
      change_role: ['PATCH', path, { team_id: teamId, role: 'member' }],
      remove: ['DELETE', path, { team_id: teamId }],
      make_owner: ['POST', `/api/teams/${teamId}/transfer`, { user_id: who(scene) }]
    }
  }
})

const records: Record<string, Record_> = {
  'a team': {
    list: '/api/teams',
    item: ({ teams }, { teamId }) => teams.find(({ id }: { id: string }) => id === teamId),
    actions: async ({ teamId, memberId }) => ({
      rename: ['PATCH', `/api/teams/${teamId}`, { name: 'n' }],
      transfer: ['POST', `/api/teams/${teamId}/transfer`, { user_id: memberId }],
      leave: ['POST', `/api/teams/${teamId}/leave`],
      delete: ['DELETE', `/api/teams/${teamId}`],
      invite: ['POST', '/api/team/invitations', { team_id: teamId, email: 'new@example.org', role: 'member' }],
      save_credentials: ['POST', '/api/team/secrets', credentials(teamId)],
      list_api_keys: ['GET', `/api/team/api-keys?team_id=${teamId}`],
      create_api_key: ['POST', '/api/team/api-keys', newKey(teamId)],
      list_webhooks: ['GET', `/api/team/webhooks?team_id=${teamId}`],
      create_webhook: ['POST', '/api/team/webhooks', newWebhook(teamId)],
      change_budget: ['PATCH', '/api/team/budget', { team_id: teamId, daily_usd: 1 }],
      change_retention: ['PATCH', '/api/team/retention', { team_id: teamId, output_days: 30 }]
    })
  },
  'the owner as a member': memberRecord(({ ownerId }) => ownerId),
  'an admin as a member': memberRecord(() => cast.admin.userId),
  'a plain member': memberRecord(({ memberId }) => memberId),
  'an invitation': {
    list: '/api/team/invitations',
    item: ({ invitations }) => invitations[0],
    actions: async (scene) => {
      const path = `/api/team/invitations/${(await scene.invitation()).id}`
      return {
        resend: ['PATCH', path, { action: 'resend' }],
        change_role: ['PATCH', path, { role: 'admin' }],
        cancel: ['DELETE', path]
      }
    }
  },
  'a key': {
    list: '/api/team/api-keys',
    item: ({ api_keys }) => api_keys[0],
    actions: async (scene) => ({ revoke: ['DELETE', `/api/team/api-keys/${await scene.apiKey()}`] })
  },
  'a credential': {
    list: '/api/team/secrets',
    item: ({ secrets }) => secrets[0],
    actions: async (scene) => {
      const { teamId } = scene
      const id = await scene.secret()
      return {
        replace: ['POST', '/api/team/secrets', credentials(teamId)],
        test: ['POST', '/api/team/secrets/test', credentials(teamId)],
        delete: ['DELETE', `/api/team/secrets/${id}`]
      }
    }
  },
  'a webhook': {
    list: '/api/team/webhooks',
    item: ({ webhooks }) => webhooks[0],
    actions: async (scene) => {
      const path = `/api/team/webhooks/${await scene.webhook()}`
      return { test: ['POST', `${path}/test`], delete: ['DELETE', path] }
    }
  }
}

const messageOf = ({ body }: ApiResponse): string => body.error.message ?? body.error

describe.each(Object.entries(records))('what can be done with %s', (_what, { list, item, actions }) => {
  test.each(kinds)('is done by this caller, and the rest refused in the words that stood there: %s', async (kind) => {
    const names = await stage('owner').then(async ({ scene }) => Object.keys(await actions(scene)))
    const wrong: unknown[] = []
    for (const name of names) {
      const { scene, headers } = await stage(kind)
      const request = (await actions(scene))[name]!
      if (kind === 'owner of a suspended team')
        await db.execute(
          sql`update teams set suspended_at = now(), suspended_reason = 'unpaid' where id = ${scene.teamId}`
        )
      const read = await api.ask('GET', `${list}?team_id=${scene.teamId}`, undefined, headers)
      // Whoever cannot read the list finds the reason on the team.
      if (read.status !== 200) continue
      const said = item(read.body, scene)!.can[name]!
      const [method, path, body] = request
      const answer = await api.ask(method, path, body, headers)
      const done = answer.status < 400
      if (done ? said !== true : said !== messageOf(answer)) wrong.push({ name, said, got: answer.text.slice(0, 200) })
      await db.execute(sql`delete from members`)
    }
    expect(wrong).toEqual([])
  })
})

describe('the deletion of a team', () => {
  const deletable = async (user: { get(path: string): Promise<ApiResponse> }, id: string): Promise<Verdict> =>
    (await user.get('/api/teams')).body.teams.find((team: { id: string }) => team.id === id).can.delete

  test('says that jobs are under way, or which capsule has to be kept, as the request does', async () => {
    const ada = await api.signUp()
    const ask = async (id: string) => messageOf(await ada.ask('DELETE', `/api/teams/${id}`))
    const { body: busy } = await ada.post('/api/teams', { name: 'busy' })
    await ada.submit(submission({ team_id: busy.id, not_before: new Date(Date.now() + 3.6e6).toISOString() }))
    expect(await deletable(ada, busy.id)).toBe(await ask(busy.id))
    const { body: bound } = await ada.post('/api/teams', { name: 'bound' })
    const job_id = await addFinishedJob(db, { userId: ada.id, email: ada.email }, { submission: { teamId: bound.id } })
    const made = await ada.post('/api/capsules/from-job', { job_id, retention_years: 7, seal: true })
    expect(made.status).toBe(201)
    const capsule = made.body.capsule_id
    const said = await deletable(ada, bound.id)
    expect(said).toContain(capsule)
    expect(said).toBe(await ask(bound.id))
  })
})

describe('the deletion of an account', () => {
  test('names the teams that go, those that lose a member, and what stands in its way', async () => {
    const [ada, eve] = [await api.signUp(), await api.signUp()]
    const { body: alone } = await ada.post('/api/teams', { name: 'alone' })
    const { body: foreign } = await eve.post('/api/teams', { name: 'foreign' })
    const join = (team: string, user: string) =>
      db.execute(sql`insert into members (team_id, user_id, role) values (${team}, ${user}, 'member')`)
    await join(foreign.id, ada.id)
    await ada.post('/api/team/api-keys', newKey(alone.id))
    expect((await ada.get('/api/profile/deletion')).body).toEqual({
      can: { delete: true },
      deletes: { teams: [{ id: alone.id, name: 'alone' }], api_keys: 1 },
      leaves: { teams: [{ id: foreign.id, name: 'foreign' }] }
    })
    await join(alone.id, eve.id)
    const { body } = await ada.get('/api/profile/deletion')
    const refused = await ada.ask('DELETE', '/api/profile', { password: 'correct horse battery' })
    expect([refused.status, refused.body.error]).toEqual([409, body.can.delete])
    expect((await eve.get('/api/profile/deletion')).body.can.delete).toContain('foreign')
  })
})

const azureIdentity = 'jobs need tenant_id, client_id and client_secret, or api_key'
const neededByJobs = {
  ionq: [],
  'aws-braket': ['jobs on a simulator need default_region', 'jobs need s3_bucket'],
  'ibm-quantum': ['jobs need instance'],
  'azure-quantum': Array(4).fill(azureIdentity)
}

describe('the providers', () => {
  test('have the credentials that saving them takes, and each says what a value looks like', async () => {
    const ada = await api.signUp()
    const { body: team } = await ada.post('/api/teams', { name: 'hardware' })
    const { status, body } = await api.ask('GET', '/api/meta/providers')
    expect(status).toBe(200)
    expect(body.providers.map(({ provider }: { provider: string }) => provider).sort()).toEqual([
      'aws-braket',
      'azure-quantum',
      'ibm-quantum',
      'ionq'
    ])
    for (const { provider, supported, credentials } of body.providers) {
      expect(supported).toBe(false)
      for (const { name, required, expected } of credentials) {
        const answer = await ada.post('/api/team/secrets', { team_id: team.id, provider, secrets: { [name]: ' ' } })
        expect([answer.status, answer.body.error]).toEqual([400, `secrets.${name}: must be ${expected}`])
        expect(typeof required).toBe('boolean')
      }
      const needed = credentials.flatMap((one: { needed_for_jobs: string | null }) => one.needed_for_jobs ?? [])
      expect(needed).toEqual(neededByJobs[provider as keyof typeof neededByJobs])
      const secrets = credentials.filter(({ secret }: { secret: boolean }) => secret)
      expect(secrets.length).toBeGreaterThan(0)
    }
  })
})

describe('a delivery', () => {
  const now = new Date('2026-11-21T12:00:00Z')
  const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)

  test.each(['delivered', 'failed'] as const)('that is %s can be sent again', (state) => {
    expect(() => assertSendsAgain({ state, nextAt: now }, now)).not.toThrow()
  })

  test('that waits for a retry can be sent again, one that a sender may have cannot', () => {
    expect(() => assertSendsAgain({ state: 'pending', nextAt: later(TAKEN_SECONDS + 1) }, now)).not.toThrow()
    expect(() => assertSendsAgain({ state: 'pending', nextAt: later(TAKEN_SECONDS) }, now)).toThrow('being sent')
  })
})
