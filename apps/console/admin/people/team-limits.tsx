// How much of the shared machines a team can use at once, and how much it can store.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.js'
import layout from '../../components/layout.module.css'
import { limitsOf } from '../../components/limits/limits.js'
import { Loading, Refusal } from '../../components/notice.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import { numberOf } from '../../text/number-of.js'
import { type AnyTeam, readAgain, teamStorageQuery } from '../admin-queries.js'
import { WriteForm } from '../write-form.js'

const text = (value: number | null): string => (value === null ? '' : String(value))
/** An empty field restores the limit of the installation. */
const limitOf = (value: string): number | null => (value.trim() === '' ? null : numberOf(value))

export function TeamLimits({ team: { id, running_jobs_max, slots_max } }: { team: AnyTeam }) {
  const queryClient = useQueryClient()
  return (
    <section className={layout.section} aria-label="Limits">
      <h2>Limits</h2>
      <WriteForm
        fields={[
          {
            name: 'running_jobs_max',
            label: 'Jobs under way at once',
            kind: 'integer',
            start: text(running_jobs_max),
            limits: limitsOf('adminUpdateTeam', 'running_jobs_max'),
            help: "Empty: the installation's limit"
          },
          {
            name: 'slots_max',
            label: 'Slots of the executor at once',
            kind: 'integer',
            start: text(slots_max),
            limits: limitsOf('adminUpdateTeam', 'slots_max'),
            help: 'Empty: all of them'
          }
        ]}
        button="Change the limits"
        send={(values, header) =>
          bodyOf(
            api.PATCH('/api/admin/teams/{id}', {
              params: { path: { id }, header },
              body: { running_jobs_max: limitOf(values.running_jobs_max), slots_max: limitOf(values.slots_max) }
            })
          )
        }
        onDone={() => readAgain(queryClient)}
      />
    </section>
  )
}

export function TeamStorage({ teamId }: { teamId: string }) {
  const queryClient = useQueryClient()
  const { data, error } = useQuery(teamStorageQuery(teamId))
  return (
    <section className={layout.section} aria-label="Storage">
      <h2>Storage</h2>
      <Refusal error={error} />
      {data ? (
        <>
          <p>
            {groupedDigits(data.used_bytes)} of {groupedDigits(data.limit_bytes)} bytes are used:{' '}
            {Object.entries(data.by_kind)
              .filter(([, bytes]) => bytes > 0)
              .map(([kind, bytes]) => `${kind.replaceAll('_', ' ')} ${groupedDigits(bytes)}`)
              .join(', ') || 'nothing is stored'}
            .
          </p>
          <WriteForm
            fields={[
              {
                name: 'limit_bytes',
                label: 'Limit in bytes',
                kind: 'integer',
                start: String(data.limit_bytes),
                limits: limitsOf('adminSetStorage', 'limit_bytes'),
                help: 'Empty: the default of the installation'
              }
            ]}
            button="Change the storage"
            send={({ limit_bytes }, header) =>
              bodyOf(
                api.PUT('/api/admin/teams/{id}/storage', {
                  params: { path: { id: teamId }, header },
                  body: { limit_bytes: limitOf(limit_bytes) }
                })
              )
            }
            onDone={() => readAgain(queryClient)}
          />
        </>
      ) : error ? null : (
        <Loading />
      )}
    </section>
  )
}
