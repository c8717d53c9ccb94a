// A form whose fields are text and whose request is sent under one key until it succeeds. The service checks what is typed, and
// its words stand at their field.
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { fieldFault } from '../api/field-fault.js'
import { useWriteKey } from '../api/write-key.js'
import { Button } from '../components/button.js'
import { Choice, type Option } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { LimitedField } from '../components/limits/limited-field.js'
import type { Limits } from '../components/limits/limits.js'
import { Refusal } from '../components/notice.js'
import styles from './admin.module.css'

export interface FormField<Name extends string> {
  /** The path of the field in the request, as refusals name it. */
  name: Name
  label: string
  help?: string
  /** As the API's document states them. */
  limits?: Limits
  start?: string
  kind?: 'line' | 'area' | 'decimal' | 'integer'
  options?: readonly Option[]
}

export type KeyHeader = { 'Idempotency-Key': string }

interface Props<Name extends string> {
  fields: readonly FormField<Name>[]
  button: string
  kind?: 'main' | 'danger'
  send: (values: Record<Name, string>, header: KeyHeader) => Promise<unknown>
  onDone: () => unknown
  onCancel?: () => void
}

export function WriteForm<Name extends string>({ fields, button, kind = 'main', send, onDone, onCancel }: Props<Name>) {
  // What was typed alone: the other fields follow the service, whoever changes it.
  const [typed, setTyped] = useState<Partial<Record<Name, string>>>({})
  const values = Object.fromEntries(fields.map(({ name, start = '' }) => [name, typed[name] ?? start])) as Record<
    Name,
    string
  >
  const withKey = useWriteKey()
  const write = useMutation({
    mutationFn: (sent: Record<Name, string>) => withKey(sent, (header) => send(sent, header)),
    onSuccess: async (_, sent) => {
      await onDone()
      setTyped((known) => without(known, sent))
    }
  })
  const fault = fieldFault(
    write.error,
    fields.map(({ name }) => name)
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!write.isPending) write.mutate(values)
  }
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <div className={styles.fields}>
        {fields.map((field) => (
          <One
            key={field.name}
            field={field}
            value={values[field.name]}
            fault={fault?.field === field.name ? fault.text : null}
            onChange={(value) => setTyped((known) => ({ ...known, [field.name]: value }))}
          />
        ))}
      </div>
      {fault === null ? <Refusal error={write.error} /> : null}
      <div className={layout.bar}>
        <Button kind={kind} type="submit" isDisabled={write.isPending}>
          {button}
        </Button>
        {onCancel ? <Button onPress={onCancel}>Close</Button> : null}
      </div>
    </form>
  )
}

/** What was typed after it was sent stays. */
const without = <Name extends string>(typed: Partial<Record<Name, string>>, sent: Record<Name, string>) =>
  Object.fromEntries(Object.entries(typed).filter(([name, value]) => value !== sent[name as Name])) as Partial<
    Record<Name, string>
  >

function One<Name extends string>(props: {
  field: FormField<Name>
  value: string
  fault: string | null
  onChange: (value: string) => void
}) {
  const { field, ...rest } = props
  const { label, help, limits = {}, kind = 'line', options } = field
  if (options) return <Choice label={label} value={rest.value} options={options} onChange={rest.onChange} />
  const more = { label, help, limits, ...rest }
  if (kind === 'area') return <LimitedField rows={3} {...more} />
  const inputMode = kind === 'decimal' ? 'decimal' : kind === 'integer' ? 'numeric' : 'text'
  return <LimitedField inputMode={inputMode} autoComplete="off" {...more} />
}
