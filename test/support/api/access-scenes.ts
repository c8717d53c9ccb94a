// Callers of every kind, each in a scene of their own, for tests that call every route (route-cases.ts).
import { sql } from 'drizzle-orm'
import { createAccessCode, grantPlatformAdmin, openSession } from '../../../db/accounts/accounts.js'
import { putSchedule } from '../../../db/capsules/capsule-schedules.js'
import type { Db } from '../../../db/client.js'
import { newId } from '../../../db/ids.js'
import { transition } from '../../../db/jobs/job-transition.js'
import { members, teams } from '../../../db/tables/accounts.js'
import { teamSecrets, webhookDeliveries, webhooks } from '../../../db/tables/teams.js'
import { createApiKey } from '../../../db/teams/api-keys.js'
import { invite } from '../../../db/teams/invitations.js'
import type { KeyTier } from '../../../domain/teams/api-key.js'
import { addDraft } from '../capsules/audit-trails.js'
import { addCapsuleOfJob, addDraftCapsule, addFinishedJob, addSealedCapsule } from '../capsules/capsule-rows.js'
import { addJob, addPerson, type Person } from '../jobs/rows.js'
import { addScript } from '../jobs/script-rows.js'
import type { Headers } from './api.js'
import { type Kind, keysOfTheTeam, type Scene } from './callers.js'
import { email } from './route-cases.js'

/** Creates the users, an access code `any`, and a function that builds a scene for one of them. */
export async function createAccessScenes(db: Db) {
  const cast = {} as Record<'outsider' | 'former' | 'member' | 'admin' | 'owner' | 'suspended' | 'platform', Person>
  for (const name of ['outsider', 'former', 'member', 'admin', 'owner', 'suspended', 'platform'] as const)
    cast[name] = await addPerson(db)
  await grantPlatformAdmin(db, cast.platform.email)
  await createAccessCode(db, { code: 'any', uses: 1 })

  async function addTeam(roles: Partial<Record<'owner' | 'admin' | 'member', Person>>): Promise<string> {
    const id = newId()
    await db.insert(teams).values({ id, name: 'a team' })
    for (const [role, { userId }] of Object.entries(roles))
      await db.insert(members).values({ teamId: id, userId, role: role as 'owner' })
    return id
  }

  /** The headers of a caller of this kind, in a scene of their own. */
  async function stage(kind: Kind): Promise<{ scene: Scene; headers: Headers }> {
    const suspended = kind === 'owner of a suspended team'
    const head = suspended ? cast.suspended : cast.owner
    const teamId = await addTeam({ owner: head, admin: cast.admin, member: cast.member })
    const scene: Scene = {
      teamId,
      ownerId: head.userId,
      memberId: cast.member.userId,
      job: () => addJob(db, head, { submission: { teamId } }),
      finishedJob: async () => {
        const id = await addJob(db, head, { submission: { teamId } })
        await db.transaction((tx) => transition(tx, id, 'cancelled'))
        return id
      },
      completedJob: () => addFinishedJob(db, head, { submission: { teamId } }),
      capsuleIn: async (state) => {
        if (state === 'draft') return addDraftCapsule(db, head, teamId)
        if (state === 'runnable') return addCapsuleOfJob(db, head, teamId)
        if (state === 'scheduled') {
          const id = await addSealedCapsule(db, head, teamId)
          const nightly = { cron: '0 3 * * *', timezone: 'UTC', paused: false, alertEmails: [], alertOn: [] }
          await db.transaction((tx) => putSchedule(tx, id, nightly, head.userId))
          return id
        }
        return addSealedCapsule(db, head, teamId, state === 'published' ? 'publish' : undefined)
      },
      script: () => addScript(db, { teamId, userId: head.userId }),
      capsule: () => addDraft(db, teamId, head.userId),
      invitation: async () => {
        const given = { teamId, email: email(), role: 'member' as const, message: null, invitedBy: head.userId }
        const { invitation, token } = await db.transaction((tx) => invite(tx, given))
        return { id: invitation.id, token }
      },
      apiKey: async () => (await makeKey(teamId, head, 'read')).id,
      secret: async () => {
        const id = newId()
        const sealed = { ringKeyId: 'k', wrappedKey: Buffer.alloc(60), sealedValue: Buffer.alloc(40) }
        await db
          .insert(teamSecrets)
          .values({ id, teamId, provider: 'ionq', keyName: 'api_key', ...sealed, validationStatus: 'untested' })
        return id
      },
      webhook: async () => {
        const id = newId()
        const sealed = { ringKeyId: 'k', wrappedKey: Buffer.alloc(60), sealedSecret: Buffer.alloc(40) }
        await db
          .insert(webhooks)
          .values({ id, teamId, url: 'https://hooks.example.org', events: ['job.failed'], ...sealed })
        return id
      },
      delivery: async (webhookId) => {
        const id = newId()
        const sent = { event: 'job.failed' as const, payload: '{}', state: 'failed' as const, nextAt: new Date() }
        await db.insert(webhookDeliveries).values({ id, webhookId, ...sent })
        return id
      },
      session: async () => {
        await openSession(db, head.userId, 'to be ended')
        const [row] = await db.execute(
          sql`select id from sessions where user_id = ${head.userId} and user_agent = 'to be ended' order by id desc limit 1`
        )
        return row!.id as string
      }
    }
    return { scene, headers: await credentials(kind, scene) }
  }

  const person: Partial<Record<Kind, () => Person>> = {
    outsider: () => cast.outsider,
    'former member': () => cast.former,
    member: () => cast.member,
    admin: () => cast.admin,
    owner: () => cast.owner,
    'owner of a suspended team': () => cast.suspended,
    'platform administrator': () => cast.platform
  }

  async function credentials(kind: Kind, { teamId }: Scene): Promise<Headers> {
    if (kind === 'anonymous') return {}
    if (kind === 'key of another team')
      return bearer((await makeKey(await addTeam({ owner: cast.outsider }), cast.outsider, 'qpu')).key)
    if (keysOfTheTeam.includes(kind))
      return bearer((await makeKey(teamId, cast.owner, kind.split(' ')[0] as KeyTier)).key)
    return { cookie: `qjs_session=${await openSession(db, person[kind]!().userId, null)}` }
  }

  async function makeKey(teamId: string, creator: Person, tier: KeyTier): Promise<{ id: string; key: string }> {
    const given = { teamId, createdBy: creator.userId, name: 'k', tier, kind: 'live' as const }
    const { row, key } = await createApiKey(db, { ...given, dailyLimit: null, expiresAt: null })
    return { id: row.id, key }
  }

  return { cast, addTeam, stage, makeKey }
}

export const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` })
