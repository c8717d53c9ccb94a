// A run in mode template: with other parameters, another backend or other shots, where they are given.
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { fieldFault } from '../api/field-fault.js'
import { backendsQuery } from '../api/queries.js'
import { Button } from '../components/button.js'
import { AreaField, Choice } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { LimitedField } from '../components/limits/limited-field.js'
import { limitsOf } from '../components/limits/limits.js'
import { Modal } from '../components/modal.js'
import { Notice, Refusal } from '../components/notice.js'
import type { ReadCapsule } from './record/capsule-record.js'
import { type RunForm, runBody } from './run-form.js'
import { useStartRun } from './use-start-run.js'

export function RunDialog({ capsule, onClose }: { capsule: ReadCapsule; onClose: () => void }) {
  const { data: catalogue } = useQuery(backendsQuery)
  const start = useStartRun(capsule.record.id)
  const [form, setForm] = useState<RunForm>({ backend: '', shots: '', params: '' })
  const [noObject, setNoObject] = useState(false)
  const fault = noObject
    ? { field: 'params', text: 'must be a JSON object, such as { "theta": 0.5 }' }
    : fieldFault(start.error, ['backend', 'shots', 'params'])
  const faultAt = (field: string) => (fault?.field === field ? fault.text : null)
  const set = (name: keyof RunForm) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  const send = (event: FormEvent) => {
    event.preventDefault()
    const body = runBody(form)
    setNoObject(body === null)
    if (body !== null) start.mutate(body, { onSuccess: onClose })
  }
  const tasks = capsule.tasks.length
  return (
    <Modal title="Run as a template" onClose={onClose}>
      <form className={layout.panel} onSubmit={send}>
        <p>
          {tasks === 1 ? 'One job is submitted.' : `${tasks} jobs are submitted together; they run one after another.`}{' '}
          What is left empty stays as the capsule has it.
        </p>
        <div className={layout.filters}>
          <Choice
            label="Backend"
            value={form.backend}
            options={[
              { value: '', text: 'As in the capsule' },
              ...(catalogue?.backends ?? []).map(({ slug, name }) => ({ value: slug, text: name }))
            ]}
            onChange={set('backend')}
          />
          <LimitedField
            label="Shots"
            limits={limitsOf('runCapsule', 'shots')}
            inputMode="numeric"
            value={form.shots}
            onChange={set('shots')}
            fault={faultAt('shots')}
          />
        </div>
        {faultAt('backend') ? <Notice tone="bad">{faultAt('backend')}</Notice> : null}
        <AreaField
          label="Parameters as JSON, merged over those of every task"
          rows={4}
          value={form.params}
          onChange={set('params')}
          fault={faultAt('params')}
        />
        {fault ? null : <Refusal error={start.error} />}
        <div className={layout.bar}>
          <Button kind="main" type="submit" isDisabled={start.isPending}>
            Run
          </Button>
          <Button onPress={onClose}>Close</Button>
        </div>
      </form>
    </Modal>
  )
}
