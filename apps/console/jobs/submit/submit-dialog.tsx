// Submits a circuit or a program, from nothing or from an earlier job.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { parse, stringify } from 'lossless-json'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/api-error.js'
import { api, bodyOf } from '../../api/client.js'
import { metaQuery, sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { AreaField, Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Loading, Refusal } from '../../components/notice.js'
import { useTeam } from '../../shell/team.js'
import { sourceQuery } from '../record/job-queries.js'
import { Destinations, reasonOf, Standing, useDestinations } from './destinations.js'
import { SettingsFields } from './settings-fields.js'
import { emptyForm, faultOf, type SubmitForm, submitBody } from './submission.js'

/** The job that is edited and run again. */
export interface Again {
  id: string
  name: string | null
  backend: string
  framework: string | null
  /** JSON text. */
  params: string
}

/** @param filled what is known of a new job. */
export function SubmitDialog(props: { again?: Again; filled?: Partial<SubmitForm>; onClose: () => void }) {
  const { again, filled, onClose } = props
  const source = useQuery({ ...sourceQuery(again?.id ?? ''), enabled: again !== undefined })
  const title = again ? 'Edit and run again' : 'Submit a job'
  if (!again)
    return (
      <Modal title={title} onClose={onClose}>
        <Form start={{ ...emptyForm, ...filled }} onClose={onClose} />
      </Modal>
    )
  return (
    <Modal title={title} onClose={onClose}>
      {source.data === undefined ? (
        source.error ? (
          <>
            <Refusal error={source.error} />
            <Button onPress={onClose}>Close</Button>
          </>
        ) : (
          <Loading />
        )
      ) : (
        <Form {...startOf(again, source.data)} onClose={onClose} />
      )}
    </Modal>
  )
}

/** Parameters that the form does not show are sent again with every digit. */
function startOf(again: Again, program: string): { start: SubmitForm; others: object } {
  const { shots, seed, ...others } = parse(again.params) as { shots?: unknown; seed?: unknown }
  const text = (value: unknown) => (value === undefined || value === null ? '' : String(value))
  const { backend } = again
  const [name, framework] = [again.name ?? '', again.framework ?? '']
  return { start: { ...emptyForm, program, framework, backend, name, shots: text(shots), seed: text(seed) }, others }
}

function Form({ start, others: given = none, onClose }: { start: SubmitForm; others?: object; onClose: () => void }) {
  // The job's page is drawn again with each of its events, and the prices of the same parameters are asked for once.
  const [others] = useState(given)
  const { team, teamParam } = useTeam()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const meta = useQuery(metaQuery)
  const [form, setForm] = useState(start)
  const set = (name: keyof SubmitForm) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  const where = useDestinations(form.shots, others, teamParam)
  const destinations = where.data?.destinations ?? []
  const first = destinations.find(({ available }) => available) ?? destinations[0]
  const backend = form.backend || first?.backend || ''
  const filled = { ...form, backend }
  const chosen = destinations.find((one) => one.backend === backend)

  const submit = useMutation({
    mutationFn: () => {
      const body = submitBody(filled, teamParam, others)
      return withKey(body, (header) =>
        // What is not a number is refused by the service, so the body is wider than the document says.
        bodyOf(api.POST('/api/jobs/submit', { params: { header }, body: body as never, bodySerializer: textOf }))
      )
    },
    onSuccess: async (submitted) => {
      // The first write of a user without a team makes their team.
      if (!team) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      onClose()
      await navigate({ to: '/jobs/$id', params: { id: (submitted as { job_id: string }).job_id } })
    }
  })
  const fault = submit.error instanceof ApiError && submit.error.status === 400 ? faultOf(submit.error.message) : null
  const faultAt = (name: keyof SubmitForm) => (fault?.field === name ? fault.text : null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    submit.mutate()
  }
  const frameworks = meta.data?.features.frameworks ?? []
  const modes = meta.data?.features.execution_modes ?? []
  return (
    <form className={layout.panel} onSubmit={send}>
      <AreaField label="Program" value={form.program} onChange={set('program')} fault={faultAt('program')} isRequired />
      <div className={layout.filters}>
        <Choice
          label="Framework"
          value={form.framework}
          options={[{ value: '', text: 'Detect it' }, ...frameworks.map((value) => ({ value, text: value }))]}
          onChange={set('framework')}
        />
        <SettingsFields settings={form} set={set} faultAt={faultAt} modes={modes} />
      </div>
      <Destinations destinations={destinations} chosen={backend} onChoose={set('backend')} />
      <Refusal error={where.error} />
      {where.data ? <Standing destination={chosen} budget={where.data.budget} /> : null}
      <Refusal error={fault && fault.field !== 'framework' && fault.field !== 'backend' ? null : submit.error} />
      <div className={layout.bar}>
        <Button
          kind="main"
          type="submit"
          why={chosen && !chosen.available ? reasonOf(chosen) : null}
          isDisabled={submit.isPending}
        >
          Submit
        </Button>
        <Button onPress={onClose}>Close</Button>
      </div>
    </form>
  )
}

/** A new job has no other parameters. */
const none = {}

const textOf = (body: unknown): string => stringify(body) ?? ''
