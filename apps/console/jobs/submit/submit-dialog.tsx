// Submits a circuit or a program, from nothing or from an earlier job.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { stringify } from 'lossless-json'
import { type FormEvent, useMemo, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { metaQuery, sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { AreaField, Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Loading, Refusal } from '../../components/notice.js'
import { useTeam } from '../../shell/team.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import { sourceQuery } from '../record/job-queries.js'
import type { ReadJob } from '../record/job-record.js'
import { againOf } from './again.js'
import { ChargedTeam } from './charged-team.js'
import { Destinations, Standing } from './destinations.js'
import { refusalsOf } from './refusals.js'
import { RestOf } from './rest-of-refusals.js'
import { MoreFields, SettingsFields, WishFields } from './settings-fields.js'
import { emptyForm, programFields, type SubmitForm, submitBody } from './submission.js'
import { chosenOf, refusedThere, useDestinations } from './use-destinations.js'
import { useParams } from './use-params.js'
import { useWidth } from './use-width.js'

/** @param filled what is known of the job. */
export function SubmitDialog({ filled, onClose }: { filled?: Partial<SubmitForm>; onClose: () => void }) {
  const { teamParam } = useTeam()
  return (
    <Modal title="Submit a job" onClose={onClose}>
      <Form start={{ ...emptyForm, ...filled }} kept={none} charged={teamParam} onClose={onClose} />
    </Modal>
  )
}

/** Of a job that is edited and run again, in its own team, whatever team the page is of. */
export function EditDialog({ job, onClose }: { job: ReadJob; onClose: () => void }) {
  const source = useQuery(sourceQuery(job.record.id))
  return (
    <Modal title="Edit and run again" onClose={onClose}>
      {source.data !== undefined ? (
        <Edited job={job} program={source.data} onClose={onClose} />
      ) : source.error ? (
        <>
          <Refusal error={source.error} />
          <Button onPress={onClose}>Close</Button>
        </>
      ) : (
        <Loading />
      )}
    </Modal>
  )
}

function Edited({ job, program, onClose }: { job: ReadJob; program: string; onClose: () => void }) {
  // The job's page is drawn again with each of its events, and the prices of the same parameters are asked for once.
  const [again] = useState(() => againOf(job, program))
  const charged = useMemo(() => ({ team_id: job.record.team_id }), [job.record.team_id])
  return <Form {...again} charged={charged} onClose={onClose} />
}

function Form(props: {
  start: SubmitForm
  /** Parameters that the form does not show, the same object each time. */
  kept: object
  charged: { team_id?: string }
  onClose: () => void
}) {
  const { start, kept, charged, onClose } = props
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const meta = useQuery(metaQuery)
  const [form, setForm] = useState(start)
  const set = (name: keyof SubmitForm) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  const { params, fault } = useParams(form.params, kept, ownParams)
  const planned = { ...form, params, qubits: useWidth(form), isAnalog: form.format === 'ahs' }
  const where = useDestinations(planned, charged)
  const { backend, destination } = chosenOf(where, form.backend)
  const filled = { ...form, backend }

  const submit = useMutation({
    mutationFn: () => {
      const body = submitBody(filled, params, charged)
      return withKey(body, (header) =>
        // What is not a number is refused by the service, so the body is wider than the document says.
        bodyOf(api.POST('/api/jobs/submit', { params: { header }, body: body as never, bodySerializer: textOf }))
      )
    },
    onSuccess: async (submitted) => {
      // The first write of a user without a team makes their team.
      if (!charged.team_id) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      onClose()
      await navigate({ to: '/jobs/$id', params: { id: (submitted as { job_id: string }).job_id } })
    }
  })
  const refusals = refusalsOf([submit.error, where.error], { more: programFields, unseen: ['framework', 'format'] })
  const faultAt = (name: keyof SubmitForm) => (name === 'params' ? fault : null) ?? refusals.at(name)
  const send = (event: FormEvent) => {
    event.preventDefault()
    submit.mutate()
  }
  const keptCharacters = useMemo(() => textOf(kept).length, [kept])
  const fields = { settings: filled, set, faultAt }
  return (
    <form className={layout.panel} onSubmit={send}>
      <AreaField label="Program" value={form.program} onChange={set('program')} fault={faultAt('program')} isRequired />
      <div className={layout.filters}>
        {form.format === '' ? (
          <Choice
            label="Framework"
            value={form.framework}
            options={[
              { value: '', text: 'Detect it' },
              ...(meta.data?.features.frameworks ?? []).map((value) => ({ value, text: value }))
            ]}
            onChange={set('framework')}
          />
        ) : (
          <Choice label="Format" value={form.format} options={formats} onChange={set('format')} />
        )}
        <SettingsFields {...fields} />
      </div>
      <MoreFields
        {...fields}
        {...(keptCharacters > NOTHING_KEPT && {
          paramsHelp: `${groupedDigits(keptCharacters)} characters of parameters of the earlier job are sent along.`
        })}
      />
      <Destinations where={where} chosen={backend} onChoose={set('backend')} />
      <WishFields {...fields} />
      <ChargedTeam teamId={charged.team_id} />
      <Standing where={where} destination={destination} />
      <RestOf rest={refusals.rest} />
      <div className={layout.bar}>
        <Button
          kind="main"
          type="submit"
          why={fault === null ? refusedThere(where, destination) : `Parameters: ${fault}`}
          // Nothing is sent before it is known where it can go.
          isDisabled={submit.isPending || backend === ''}
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
/** The characters of an object without fields. */
const NOTHING_KEPT = 2

const ownParams = ['shots', 'seed'] as const

const formats = [
  { value: 'qasm2', text: 'OpenQASM 2' },
  { value: 'qasm3', text: 'OpenQASM 3' },
  { value: 'ahs', text: 'Analog program' }
]

const textOf = (body: unknown): string => stringify(body) ?? ''
