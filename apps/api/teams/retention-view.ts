// How long a team keeps the contents of its jobs, as the API shows it.
import { type Static, Type } from 'typebox'
import type { KeptSetting } from '../../../db/teams/content-retention.js'
import {
  type ContentKind,
  contentKindNames,
  daysInForce,
  type KeptDays
} from '../../../domain/teams/content-retention.js'
import { count, nullable, time, uuid } from '../http/response.js'

const Kept = Type.Object(
  {
    days: nullable(count, 'The shorter of the two below, after the end of a job; `null`: for ever'),
    team_days: nullable(count, "The team's own number"),
    team_days_from: nullable(time, 'From when on it holds: a day after it was set'),
    platform_days: nullable(count, "The platform's")
  },
  { $id: 'KeptContent' }
)

export const Retention = Type.Object(
  { team_id: nullable(uuid, '`null` for a caller without a team'), results: Kept, task_values: Kept, output: Kept },
  { $id: 'TeamRetention' }
)

export function retentionView(
  teamId: string | null,
  settings: Record<ContentKind, KeptSetting | null> | null,
  platform: KeptDays
): Static<typeof Retention> {
  const kept = (kind: ContentKind): Static<typeof Kept> => {
    const own = settings?.[kind] ?? null
    return {
      days: daysInForce(own?.days ?? null, platform[kind]),
      team_days: own?.days ?? null,
      team_days_from: own?.from.toISOString() ?? null,
      platform_days: platform[kind]
    }
  }
  const kinds = Object.fromEntries(contentKindNames.map((kind) => [kind, kept(kind)]))
  return { team_id: teamId, ...(kinds as Record<ContentKind, Static<typeof Kept>>) }
}
