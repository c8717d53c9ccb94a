// A run in mode template: with other parameters, another backend or other shots, where they are given.
import { useQuery } from '@tanstack/react-query'
import { parse } from 'lossless-json'
import { type FormEvent, useState } from 'react'
import { backendsQuery } from '../api/queries.js'
import { Button } from '../components/button.js'
import { AreaField, Choice, Field } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { Modal } from '../components/modal.js'
import { Refusal } from '../components/notice.js'
import type { ReadCapsule } from './record/capsule-record.js'
import { useStartRun } from './use-start-run.js'

export function RunDialog({ capsule, onClose }: { capsule: ReadCapsule; onClose: () => void }) {
  const { data: catalogue } = useQuery(backendsQuery)
  const start = useStartRun(capsule.record.id)
  const [form, setForm] = useState({ backend: '', shots: '', params: '' })
  const [fault, setFault] = useState<string | null>(null)
  const set = (name: keyof typeof form) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  const send = (event: FormEvent) => {
    event.preventDefault()
    const params = paramsOf(form.params)
    setFault(params === null ? 'must be a JSON object, such as { "theta": 0.5 }' : null)
    if (params === null) return
    start.mutate(
      {
        mode: 'template',
        ...(Object.keys(params).length > 0 && { params }),
        ...(form.backend !== '' && { backend: form.backend }),
        ...(form.shots.trim() !== '' && { shots: Number(form.shots) })
      },
      { onSuccess: onClose }
    )
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
          <Field label="Shots" inputMode="numeric" value={form.shots} onChange={set('shots')} />
        </div>
        <AreaField
          label="Parameters as JSON, merged over those of every task"
          rows={4}
          value={form.params}
          onChange={set('params')}
          fault={fault}
        />
        <Refusal error={start.error} />
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

/** Numbers keep every digit. */
function paramsOf(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {}
  try {
    const value = parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
