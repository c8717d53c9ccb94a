// A capsule made of tasks, or the change of a draft. What was typed stays until it is saved.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { stringify } from 'lossless-json'
import { type FormEvent, useState } from 'react'
import { messageOf } from '../../api/api-error.js'
import { api, bodyOf } from '../../api/client.js'
import { backendsQuery, metaQuery, sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { AreaField, Choice, Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Notice, Refusal } from '../../components/notice.js'
import { useTeam } from '../../shell/team.js'
import own from '../capsules.module.css'
import type { ReadCapsule } from '../record/capsule-record.js'
import {
  type CapsuleForm,
  capsuleBody,
  emptyForm,
  emptyTask,
  faultPlace,
  formOfTask,
  type TaskForm
} from './task-form.js'

/** @param draft that is changed; absent: a new one is made. */
export const CreateDialog = ({ draft, onClose }: { draft?: ReadCapsule; onClose: () => void }) => (
  <Modal title={draft ? 'Change this draft' : 'New capsule'} onClose={onClose}>
    <Form {...(draft && { draft })} onClose={onClose} />
  </Modal>
)

function startOf(draft: ReadCapsule | undefined): { form: CapsuleForm; withTasks: boolean } {
  if (!draft) return { form: emptyForm(), withTasks: true }
  const { name, description, tags, max_budget_usd, retention_years } = draft.record
  const tasks = draft.tasks.map(formOfTask)
  const known = tasks.filter((task) => task !== null)
  return {
    form: {
      name,
      description,
      tags: tags.join(', '),
      maxBudget: max_budget_usd === null ? '' : String(max_budget_usd),
      retentionYears: retention_years === null ? '' : String(retention_years),
      tasks: known.length > 0 ? known : [emptyTask('main')]
    },
    withTasks: known.length === tasks.length
  }
}

function Form({ draft, onClose }: { draft?: ReadCapsule; onClose: () => void }) {
  const { team, teamParam } = useTeam()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const [{ form: start, withTasks }] = useState(() => startOf(draft))
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
      // The record of a draft shows `1.0` as 1: tasks that nobody touched are not sent back.
      const isChanged = !draft || form.tasks !== start.tasks
      const body = { ...capsuleBody(form, withTasks && isChanged), ...(draft ? {} : teamParam) }
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
      <Field label="Name" value={form.name} onChange={set('name')} maxLength={200} fault={faultAt('name')} isRequired />
      <Field
        label="Description (optional)"
        value={form.description}
        onChange={set('description')}
        maxLength={1_000}
        fault={faultAt('description')}
      />
      <div className={layout.filters}>
        <Field
          label="Tags, with commas between (optional)"
          value={form.tags}
          onChange={set('tags')}
          maxLength={520}
          fault={faultAt('tags')}
        />
        <Field
          label="All runs may cost, in USD (optional)"
          inputMode="decimal"
          value={form.maxBudget}
          onChange={set('maxBudget')}
          fault={faultAt('max_budget_usd')}
        />
        <Field
          label="Years of retention (optional)"
          inputMode="numeric"
          value={form.retentionYears}
          onChange={set('retentionYears')}
          fault={faultAt('retention_years')}
        />
      </div>
      {withTasks ? (
        <>
          {form.tasks.map((task, place) => (
            <Task
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

function Task(props: {
  task: TaskForm
  place: number
  earlier: readonly string[]
  set: (changes: Partial<TaskForm>) => void
  faultAt: (field: string) => string | null
  remove: (() => void) | null
}) {
  const { task, place, earlier, set, faultAt, remove } = props
  const { data: catalogue } = useQuery(backendsQuery)
  const { data: meta } = useQuery(metaQuery)
  const frameworks = meta?.features.frameworks ?? []
  return (
    <fieldset className={own.task}>
      <legend>Task {place + 1}</legend>
      <div className={layout.filters}>
        <Field
          label="Name of the task"
          value={task.name}
          onChange={(name) => set({ name })}
          maxLength={100}
          fault={faultAt('name')}
        />
        <Choice
          label="Backend"
          value={task.backend}
          options={[
            { value: '', text: 'Choose one' },
            ...(catalogue?.backends ?? []).map(({ slug, name }) => ({ value: slug, text: name }))
          ]}
          onChange={(backend) => set({ backend })}
        />
        <Choice
          label="Framework"
          value={task.framework}
          options={[{ value: '', text: 'Detect it' }, ...frameworks.map((value) => ({ value, text: value }))]}
          onChange={(framework) => set({ framework })}
        />
        <Field
          label="Shots"
          inputMode="numeric"
          value={task.shots}
          onChange={(shots) => set({ shots })}
          fault={faultAt('shots')}
        />
        <Choice
          label="Program"
          value={task.kind}
          options={[
            { value: 'code', text: 'Code' },
            { value: 'script', text: 'A saved script' }
          ]}
          onChange={(kind) => set({ kind: kind as TaskForm['kind'] })}
        />
      </div>
      {faultAt('backend') ? <Notice tone="bad">{faultAt('backend')}</Notice> : null}
      {task.kind === 'code' ? (
        <AreaField
          label="Code"
          value={task.code}
          onChange={(code) => set({ code })}
          rows={8}
          fault={faultAt('inline_code') ?? faultAt('framework') ?? faultAt('script_id')}
        />
      ) : (
        <Field
          label="Id of the script"
          value={task.script}
          onChange={(script) => set({ script })}
          maxLength={36}
          fault={faultAt('script_id')}
        />
      )}
      <AreaField
        label="Parameters as JSON (optional)"
        value={task.parameters}
        onChange={(parameters) => set({ parameters })}
        rows={3}
        help={
          earlier.length === 0
            ? undefined
            : `The result of an earlier task: { "reference": { "$result": ${JSON.stringify(earlier.at(-1))}, "path": "/counts" } }`
        }
        fault={faultAt('parameters')}
      />
      {remove ? <Button onPress={remove}>Remove this task</Button> : null}
    </fieldset>
  )
}
