// GET /api/events: what changes in the caller's teams, as it happens.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerOf, userOf } from '../../http/access.js'
import { beginStream } from '../../http/begin-stream.js'
import { media } from '../../http/response.js'
import type { EventStreams } from '../event-stream.js'
import type { TeamFeed } from './team-feed.js'

export const teamEventRoutes: FastifyPluginAsyncTypebox<{ streams: EventStreams; feed: TeamFeed }> = async (
  app,
  { streams, feed }
) => {
  app.get(
    '/api/events',
    {
      schema: {
        tags: ['teams'],
        summary: 'What changes in your teams, as it happens (text/event-stream)',
        description:
          'Begins with `resync`: nothing is repeated from before, so read then what you show. The same event comes again when changes may have been missed. States alone are sent, never content. A stream ends after an hour, and when the session or key is no longer valid; a user can have 20 open, those of jobs included. With `follow=false` it ends after what there is. A key hears of its own team.',
        querystring: Type.Object({ follow: Type.Boolean({ default: true }) }),
        response: {
          200: media(
            '`resync` with `{}`; `job` with `{ "job_id", "team_id", "status", "queue", "at" }` for each change of a job, `queue` as in its record; `capsule_run` with `{ "capsule_run_id", "capsule_id", "team_id", "status", "verdict", "at" }`. A comment every 15 seconds',
            'text/event-stream'
          )
        }
      }
    },
    async (request, reply) => {
      const leave = streams.enter(userOf(request).id)
      const listener = { userId: userOf(request).id, teamId: callerOf(request).key?.teamId ?? null }
      beginStream(reply)
      await streams
        .pass(
          (wake) => feed.join({ ...listener, wake }),
          { follow: request.query.follow },
          reply.raw,
          () => app.isSignedIn(request)
        )
        .catch((err) => request.log.warn({ err }, 'event stream ended early'))
        .finally(leave)
    }
  )
}
