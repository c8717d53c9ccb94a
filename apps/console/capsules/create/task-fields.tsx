// The fields of one task of a capsule: all that a request can say of it.
import { useQuery } from '@tanstack/react-query'
import { backendsQuery, metaQuery } from '../../api/queries.js'
import { Button } from '../../components/button.js'
import { AreaField, Choice, Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { Notice } from '../../components/notice.js'
import own from '../capsules.module.css'
import type { TaskForm } from './task-form.js'

const modes = [
  { value: '', text: 'The default' },
  { value: 'direct', text: 'direct: one attempt' },
  { value: 'temporal', text: 'temporal: retried' }
] as const satisfies { value: TaskForm['mode']; text: string }[]

export function TaskFields(props: {
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
        <LimitedField
          label="Name of the task"
          limits={limitsOf('createCapsule', 'workflow.tasks[].name')}
          value={task.name}
          onChange={(name) => set({ name })}
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
        <LimitedField
          label="Shots"
          limits={limitsOf('runCapsule', 'shots')}
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
        <Choice
          label="Mode"
          value={task.mode}
          options={modes}
          onChange={(mode) => set({ mode: mode as TaskForm['mode'] })}
        />
        <LimitedField
          label="Time limit in seconds"
          limits={limitsOf('createCapsule', 'workflow.tasks[].timeout_seconds')}
          inputMode="numeric"
          value={task.timeoutSeconds}
          onChange={(timeoutSeconds) => set({ timeoutSeconds })}
          fault={faultAt('timeout_seconds')}
        />
      </div>
      {faultAt('execution_mode') ? <Notice tone="bad">{faultAt('execution_mode')}</Notice> : null}
      {faultAt('backend') ? <Notice tone="bad">{faultAt('backend')}</Notice> : null}
      {task.kind === 'code' ? (
        <LimitedField
          label="Code"
          limits={limitsOf('createCapsule', 'workflow.tasks[].inline_code')}
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
          help={
            task.scriptVersion === null
              ? undefined
              : `The draft has version ${task.scriptVersion}. A change of its tasks takes the newest.`
          }
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
