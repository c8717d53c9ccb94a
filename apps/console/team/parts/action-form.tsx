import type { FormEvent, ReactNode } from 'react'
import { fieldFault } from '../../api/field-fault.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Refusal } from '../../components/notice.js'
import styles from './parts.module.css'
import type { Action } from './use-action.js'

/** A form whose refusal stands at its field, or above its button where the message names none. */
export function ActionForm(props: {
  label: string
  button: string
  action: Action
  /** Names of the fields, as the API's messages begin. */
  fields: readonly string[]
  why?: string | null
  onSubmit: () => void
  children: (faultAt: (field: string) => string | null) => ReactNode
  more?: ReactNode
}) {
  const { action } = props
  const fault = fieldFault(action.error, props.fields)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // Enter in a field submits although the button is disabled.
    if (!props.why && !action.pending) props.onSubmit()
  }
  return (
    <form className={styles.form} aria-label={props.label} onSubmit={submit}>
      {props.children((field) => (fault?.field === field ? fault.text : null))}
      {fault ? null : <Refusal error={action.error} />}
      <div className={layout.bar}>
        <Button kind="main" type="submit" why={props.why ?? null} isDisabled={action.pending}>
          {props.button}
        </Button>
        {props.more}
      </div>
    </form>
  )
}
