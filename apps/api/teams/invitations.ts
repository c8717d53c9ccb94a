// Invitations: /api/team/invitations for the team, /api/invitations/:token for the person who got the mail.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { isAddressProved } from '../../../db/accounts/accounts.js'
import { revokeSessions } from '../../../db/accounts/passwords.js'
import { endFormerAccess } from '../../../db/deletion/former-access.js'
import {
  acceptInvitation,
  cancelInvitation,
  changeInvitedRole,
  type Invitation as InvitationRow,
  invite,
  listInvitations,
  noSuchInvitation,
  previewInvitation,
  resendInvitation,
  teamOfInvitation
} from '../../../db/teams/invitations.js'
import { teamName } from '../../../db/teams/teams.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { assignableRoles } from '../../../domain/teams/role.js'
import { invitationMail } from '../../../services/mail/text.js'
import { Email } from '../accounts/auth.js'
import { FIRST_PROOF } from '../accounts/passwords.js'
import type { ApiDeps } from '../deps.js'
import { actorOf, ownerForWrite, readTeam, teamForWrite, userOf } from '../http/access.js'
import { takeEmailLimit } from '../http/limits/limiter.js'
import { done, json, success, text, time, uuid } from '../http/response.js'
import type { Write } from '../http/write-once.js'
import { Invitation, invitationView } from './invitation-view.js'

const Uuid = Type.String({ format: 'uuid' })
const Role = oneOf(assignableRoles)
const InvitationId = Type.Object({ id: Uuid })
const Link = Type.Object({ token: Type.String({ maxLength: 64 }) })

export const invitationRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db, mailer, config } = deps

  app.get(
    '/api/team/invitations',
    {
      schema: {
        tags: ['teams'],
        summary: 'Pending invitations of a team',
        querystring: Type.Object({ team_id: Type.Optional(Uuid) }),
        response: { 200: json('The pending invitations', Type.Object({ invitations: Type.Array(Invitation) })) }
      }
    },
    async (request) => {
      const team = await readTeam(request, db, request.query.team_id)
      if (!team) return { invitations: [] }
      return { invitations: (await listInvitations(db, team.id)).map((row) => invitationView(request, team, row)) }
    }
  )

  app.post(
    '/api/team/invitations',
    {
      schema: {
        tags: ['teams'],
        summary: 'Invite a person by email (owner and admins)',
        description:
          'The mail quotes the message only if an account has proved that it receives mail at the address; another recipient gets the names of the team and the inviter alone.',
        body: Type.Object(
          { team_id: Uuid, email: Email, role: Role, message: Type.Optional(Type.String({ maxLength: 500 })) },
          { additionalProperties: false }
        ),
        response: { 201: json('The invitation', Invitation) },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const { team_id: teamId, email, role, message = null } = request.body
      const inviter = userOf(request)
      return app.writeOnce(request, reply, async (write) => {
        const { tx } = write
        const team = (await readTeam(request, tx, await teamForWrite(request, tx, teamId)))!
        const sent = await invite(tx, { teamId, email, role, message, invitedBy: inviter.id })
        await mailLink(write, sent, inviter.displayName ?? inviter.email)
        return { status: 201, body: invitationView(request, team, sent.invitation) }
      })
    }
  )

  app.patch(
    '/api/team/invitations/:id',
    {
      schema: {
        tags: ['teams'],
        summary: 'Send a pending invitation again, or change its role (owner and admins)',
        description: 'Resending creates a new link that is valid for seven days; the old link stops working.',
        params: InvitationId,
        body: Type.Object(
          {
            action: Type.Optional(oneOf(['resend'])),
            role: Type.Optional(Role)
          },
          { additionalProperties: false, minProperties: 1 }
        ),
        response: { 200: json('The invitation', Invitation) },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const { id } = request.params
      const { action, role } = request.body
      if (action && role) throw validationError('role: cannot be sent together with action')
      const inviter = userOf(request)
      return app.writeOnce(request, reply, async (write) => {
        const { tx } = write
        const teamId = await ownerForWrite(request, tx, await teamOfInvitation(tx, id), 'invitation')
        const team = (await readTeam(request, tx, teamId))!
        const sent = role ? null : await resendInvitation(tx, id)
        const invitation = role ? await changeInvitedRole(tx, id, role) : sent?.invitation
        if (!invitation) throw new ServiceError('conflict', 'The invitation was accepted, was cancelled or has expired')
        if (sent) await mailLink(write, sent, inviter.displayName ?? inviter.email)
        return { body: invitationView(request, team, invitation) }
      })
    }
  )

  app.delete(
    '/api/team/invitations/:id',
    {
      schema: {
        tags: ['teams'],
        summary: 'Cancel a pending invitation (owner and admins)',
        params: InvitationId,
        response: { 200: done },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const { id } = request.params
      return app.writeOnce(request, reply, async ({ tx }) => {
        await ownerForWrite(request, tx, await teamOfInvitation(tx, id), 'invitation')
        if (!(await cancelInvitation(tx, id)))
          throw new ServiceError('conflict', 'The invitation was accepted or cancelled before')
        return { body: success }
      })
    }
  )

  app.get(
    '/api/invitations/:token',
    {
      schema: {
        tags: ['teams'],
        summary: 'The team and role of an invitation, by the token of its link',
        params: Link,
        response: {
          200: json(
            'The team and role of the invitation',
            Type.Object({ team: Type.Object({ id: uuid, name: text }), role: Role, email: text, expires_at: time })
          )
        }
      }
    },
    async (request, reply) => {
      const found = await previewInvitation(db, request.params.token)
      if (!found) throw noSuchInvitation()
      reply.header('referrer-policy', 'no-referrer')
      return {
        team: { id: found.teamId, name: found.teamName },
        role: found.role,
        email: found.email,
        expires_at: found.expiresAt.toISOString()
      }
    }
  )

  app.post(
    '/api/invitations/:token/accept',
    {
      schema: {
        tags: ['teams'],
        summary: 'Join the team; you have to be signed in with the address that was invited',
        description: FIRST_PROOF,
        params: Link,
        response: { 200: json('You belong to the team', Type.Object({ team_id: uuid, role: Role })) },
        errors: ['team_suspended', 'conflict']
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        const { user, sessionId } = actorOf(request)
        const { teamId, role, firstProof } = await acceptInvitation(tx, request.params.token, user)
        if (firstProof) {
          await revokeSessions(tx, user.id, sessionId)
          await endFormerAccess(tx, user.id)
        }
        return { body: { team_id: teamId, role } }
      })
  )

  /** @throws ServiceError `rate_limited` when the recipient has too many invitations, from any teams. */
  async function mailLink(
    { tx, afterRollback }: Pick<Write, 'tx' | 'afterRollback'>,
    { invitation, token }: { invitation: InvitationRow; token: string },
    inviterName: string
  ) {
    const { email: to, teamId, role, message, expiresAt } = invitation
    afterRollback(await takeEmailLimit(deps.limiter, to, 'invitationMail'))
    const link = `${config.linkOrigin}/invitations/${token}`
    const stranger = !(await isAddressProved(tx, to))
    const text = { teamName: await teamName(tx, teamId), inviterName, role, message, stranger, link, expiresAt }
    await mailer.send(tx, { to, ...invitationMail(text) }, expiresAt)
  }
}
