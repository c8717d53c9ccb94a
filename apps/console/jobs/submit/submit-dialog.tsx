// Submits a circuit or a program, from nothing or from an earlier job.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { parse, stringify } from 'lossless-json'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/api-error.js'
import { api, type Backend, bodyOf } from '../../api/client.js'
import { backendsQuery, metaQuery, sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { AreaField, Choice, Field } from '../../components/fields.js'
import { Modal } from '../../components/modal.js'
import { Loading, Refusal } from '../../components/notice.js'
import { usd } from '../../components/text.js'
import { useTeam } from '../../shell/team.js'
import { sourceQuery } from '../job-queries.js'
import styles from '../jobs.module.css'
import { Estimate } from './estimate.js'
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

function Form({ start, others, onClose }: { start: SubmitForm; others?: object; onClose: () => void }) {
  const { team, teamParam } = useTeam()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const meta = useQuery(metaQuery)
  const { data: catalogue } = useQuery(backendsQuery)
  const [form, setForm] = useState(start)
  const set = (name: keyof SubmitForm) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  const usable = catalogue?.backends.filter(({ isRetired }) => !isRetired) ?? []
  const backend = form.backend || usable.find(({ isAvailable }) => isAvailable)?.slug || ''
  const filled = { ...form, backend }

  const submit = useMutation({
    mutationFn: () => {
      const body = submitBody(filled, teamParam, others)
      return withKey(body, (header) =>
        // What is no number is refused by the service, so the body is wider than the document says.
        bodyOf(api.POST('/api/jobs/submit', { params: { header }, body: body as never, bodySerializer: textOf }))
      )
    },
    onSuccess: async (submitted) => {
      // The first write of somebody without a team makes their team.
      if (!team) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: ['jobs'] })
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
    <form className={styles.panel} onSubmit={send}>
      <AreaField label="Program" value={form.program} onChange={set('program')} fault={faultAt('program')} isRequired />
      <div className={styles.filters}>
        <Choice
          label="Framework"
          value={form.framework}
          options={[{ value: '', text: 'Detect it' }, ...frameworks.map((value) => ({ value, text: value }))]}
          onChange={set('framework')}
        />
        <Choice label="Backend" value={backend} options={usable.map(optionOf)} onChange={set('backend')} />
        <Field label="Shots" inputMode="numeric" value={form.shots} onChange={set('shots')} fault={faultAt('shots')} />
        <Field
          label="Seed (optional)"
          inputMode="numeric"
          value={form.seed}
          onChange={set('seed')}
          fault={faultAt('seed')}
        />
        <Field
          label="Name (optional)"
          value={form.name}
          onChange={set('name')}
          maxLength={200}
          fault={faultAt('name')}
        />
        <Choice
          label="Mode"
          value={form.mode}
          options={[{ value: '', text: 'As the service does' }, ...modes.map((value) => ({ value, text: value }))]}
          onChange={set('mode')}
        />
        <Field
          label="Cost at most, in USD (optional)"
          inputMode="decimal"
          value={form.maxCost}
          onChange={set('maxCost')}
          fault={faultAt('maxCost')}
        />
      </div>
      <Estimate form={filled} team={teamParam} />
      <Refusal error={fault && fault.field !== 'framework' && fault.field !== 'backend' ? null : submit.error} />
      <div className={styles.bar}>
        <Button kind="main" type="submit" isDisabled={submit.isPending}>
          Submit
        </Button>
        <Button onPress={onClose}>Close</Button>
      </div>
    </form>
  )
}

const textOf = (body: unknown): string => stringify(body) ?? ''

const optionOf = ({ slug, name, isAvailable, unavailableReason, pricing, emulated }: Backend) => ({
  value: slug,
  text: isAvailable
    ? `${name}${emulated ? ' (emulated)' : ''}, ${usd(pricing.perShot)} a shot`
    : `${name}: ${unavailableReason ?? 'not available'}`,
  disabled: !isAvailable
})
