// When a schedule would be due, before it is set: GET /api/schedules/preview.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { codeOf } from '../../../domain/errors.js'
import {
  CRON_MAX,
  type Cron,
  dueTimes,
  readCron,
  readTimezone,
  TIMEZONE_MAX
} from '../../../domain/verification/schedule.js'
import { BACKFILL_MAX } from '../../../domain/verification/schedule-names.js'
import type { ApiDeps } from '../deps.js'
import { count, json, nullable, text, time } from '../http/response.js'
import { readRange } from './capsule-verifications.js'
import { NEXT_RUNS } from './schedule-view.js'

const SchedulePreview = Type.Object(
  {
    next_runs: Type.Array(time, { description: `The next ${NEXT_RUNS}; none where it has a fault` }),
    due: nullable(
      Type.Object({
        count,
        capped: Type.Boolean({ description: `There are more; a back-fill runs at most ${BACKFILL_MAX}` })
      }),
      'How often it is due from `from` to `to`, both inclusive; null without them'
    ),
    fault: nullable(text, 'With which words PUT /api/capsules/:id/schedule would refuse it')
  },
  { $id: 'SchedulePreview' }
)

export const schedulePreviewRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/schedules/preview',
    {
      schema: {
        tags: ['capsules'],
        summary: 'The next times of a schedule, or its fault',
        description: 'Times are local times of the zone; docs/capsules/schedules.md has the fields.',
        querystring: Type.Object({
          cron: Type.String({ minLength: 1, maxLength: CRON_MAX, description: 'As in a schedule' }),
          timezone: Type.String({ minLength: 1, maxLength: TIMEZONE_MAX, default: 'UTC' }),
          from: Type.Optional(Type.String({ format: 'date-time', description: 'With `to`: of a back-fill' })),
          to: Type.Optional(Type.String({ format: 'date-time' }))
        }),
        response: { 200: json('The times, or the fault', SchedulePreview) }
      }
    },
    async (request) => {
      const { cron, timezone, from, to } = request.query
      try {
        const [read, zone] = [readCron(cron), readTimezone(timezone)]
        const times = dueTimes(read, zone, deps.now(), NEXT_RUNS)
        const due =
          from === undefined || to === undefined ? null : dueWithin(read, zone, readRange({ from, to }, deps.now()))
        return { next_runs: times.map((time) => time.toISOString()), due, fault: null }
      } catch (error) {
        if (codeOf(error) !== 'validation_error') throw error
        return { next_runs: [], due: null, fault: (error as Error).message }
      }
    }
  )
}

function dueWithin(cron: Cron, timezone: string, { after, to }: { after: Date; to: Date }) {
  const times = dueTimes(cron, timezone, after, BACKFILL_MAX + 1).filter((time) => time <= to)
  return { count: Math.min(times.length, BACKFILL_MAX), capped: times.length > BACKFILL_MAX }
}
