// A capsule made of tasks, or the change of a draft. What was typed stays until it is saved.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { stringify } from 'lossless-json'
import { type FormEvent, useState } from 'react'
import { messageOf } from '../../api/api-error.js'
import { api, bodyOf } from '../../api/client.js'
import { sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf, listText } from '../../components/limits/limits.js'
import { Modal } from '../../components/modal.js'
import { Notice, Refusal } from '../../components/notice.js'
import { useTeam } from '../../shell/team.js'
import type { ReadCapsule } from '../record/capsule-record.js'
import { TaskFields } from './task-fields.js'
import {
  type CapsuleForm,
  capsuleBody,
  changedBody,
  emptyForm,
  emptyTask,
  faultPlace,
  formOfDraft,
  type TaskForm
} from './task-form.js'

/** @param draft that is changed; absent: a new one is made. */
export const CreateDialog = ({ draft, onClose }: { draft?: ReadCapsule; onClose: () => void }) => (
  <Modal title={draft ? 'Change this draft' : 'New capsule'} onClose={onClose}>
    <Form {...(draft && { draft })} onClose={onClose} />
  </Modal>
)

function Form({ draft, onClose }: { draft?: ReadCapsule; onClose: () => void }) {
  const { team, teamParam } = useTeam()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const [{ form: start, withTasks }] = useState(() =>
    draft ? formOfDraft(draft) : { form: emptyForm(), withTasks: true }
  )
  const [form, setForm] = useState(start)
  const set = (name: Exclude<keyof CapsuleForm, 'tasks'>) => (value: string) =>
    setForm((known) => ({ ...known, [name]: value }))
  const setTask = (place: number, changes: Partial<TaskForm>) =>
    setForm((known) => ({
      ...known,
      tasks: known.tasks.map((task, at) => (at === place ? { ...task, ...changes } : task))
    }))
  const save = useMutation({
    mutationFn: async () => {
      const body = draft ? changedBody(form, start, withTasks) : { ...capsuleBody(form, true), ...teamParam }
      return withKey(body, async (header) => {
        const more = { body: body as never, bodySerializer: (value: unknown) => stringify(value) ?? '' }
        if (!draft) return (await bodyOf(api.POST('/api/capsules/create', { params: { header }, ...more }))).capsule_id
        const path = { id: draft.record.id }
        await bodyOf(api.PATCH('/api/capsules/{id}', { params: { path, header }, parseAs: 'text', ...more }))
        return draft.record.id
      })
    },
    onSuccess: async (id) => {
      if (!team) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      await queryClient.invalidateQueries({ queryKey: ['capsule', id] })
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
      onClose()
      if (!draft) await navigate({ to: '/capsules/$id', params: { id } })
    }
  })
  const fault = save.error ? faultPlace(messageOf(save.error)) : null
  const faultAt = (field: string, task: number | null = null) =>
    fault?.task === task && fault.field === field ? fault.text : null
  const send = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className={layout.panel} onSubmit={send}>
      <LimitedField
        label="Name"
        value={form.name}
        onChange={set('name')}
        limits={limitsOf('createCapsule', 'name')}
        fault={faultAt('name')}
        isRequired
      />
      <LimitedField
        label="Description (optional)"
        value={form.description}
        onChange={set('description')}
        limits={limitsOf('createCapsule', 'description')}
        fault={faultAt('description')}
      />
      <div className={layout.filters}>
        <Field
          label="Tags, with commas between (optional)"
          value={form.tags}
          onChange={set('tags')}
          help={listText(limitsOf('createCapsule', 'tags'), limitsOf('createCapsule', 'tags[]'))}
          fault={faultAt('tags')}
        />
        <LimitedField
          label="All runs may cost, in USD (optional)"
          limits={limitsOf('createCapsule', 'max_budget_usd')}
          inputMode="decimal"
          value={form.maxBudget}
          onChange={set('maxBudget')}
          fault={faultAt('max_budget_usd')}
        />
        <LimitedField
          label="Years of retention (optional)"
          limits={limitsOf('createCapsule', 'retention_years')}
          inputMode="numeric"
          value={form.retentionYears}
          onChange={set('retentionYears')}
          fault={faultAt('retention_years')}
        />
      </div>
      {withTasks ? (
        <>
          {form.tasks.map((task, place) => (
            <TaskFields
              key={task.key}
              task={task}
              place={place}
              earlier={form.tasks.slice(0, place).map(({ name }) => name)}
              set={(changes) => setTask(place, changes)}
              faultAt={(field) => faultAt(field, place)}
              remove={
                form.tasks.length === 1
                  ? null
                  : () => setForm((known) => ({ ...known, tasks: known.tasks.filter((_, at) => at !== place) }))
              }
            />
          ))}
          <Button
            onPress={() =>
              setForm((known) => ({ ...known, tasks: [...known.tasks, emptyTask(`task ${known.tasks.length + 1}`)] }))
            }
          >
            Add a task
          </Button>
        </>
      ) : (
        <Notice>
          The tasks of this draft hold what this form has no place for, such as a circuit. They stay as they are.
        </Notice>
      )}
      <Refusal error={save.error} />
      <div className={layout.bar}>
        <Button kind="main" type="submit" isDisabled={save.isPending}>
          {draft ? 'Save' : 'Create the draft'}
        </Button>
        <Button onPress={onClose}>Close</Button>
      </div>
    </form>
  )
}
