import { useMutation } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { fieldFault } from '../api/field-fault.js'
import { Button } from '../components/button.js'
import { Field } from '../components/fields.js'
import { LimitedField } from '../components/limits/limited-field.js'
import { limitsOf } from '../components/limits/limits.js'
import { Refusal } from '../components/notice.js'
import styles from './account-page.module.css'

/** The refusal of a form, where it is about one of its fields. */
type FaultAt = (field: string) => string | null

/** A form with one button; the refusal of the service stands at its field, or above the button where it names none. */
export function AccountForm(props: {
  button: string
  send: () => Promise<unknown>
  /** As the API's messages begin. */
  fields?: readonly string[]
  children?: (faultAt: FaultAt) => ReactNode
}) {
  const { mutate, isPending, error } = useMutation({ mutationFn: props.send })
  const fault = fieldFault(error, props.fields ?? [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      {props.children?.((field) => (fault?.field === field ? fault.text : null))}
      {fault ? null : <Refusal error={error} />}
      <Button kind="main" type="submit" isDisabled={isPending}>
        {props.button}
      </Button>
    </form>
  )
}

interface TextProps {
  value: string
  onChange: (value: string) => void
  fault?: string | null
}

export const EmailField = (props: TextProps & { isReadOnly?: boolean }) => (
  <Field {...props} label="Email" type="email" name="email" autoComplete="username" isRequired />
)

export const PasswordField = (props: TextProps) => (
  <Field {...props} label="Password" type="password" autoComplete="current-password" isRequired />
)

export const NewPasswordField = ({ operation, ...props }: TextProps & { operation: 'signUp' | 'resetPassword' }) => (
  <LimitedField
    {...props}
    label={operation === 'signUp' ? 'Password' : 'New password'}
    type="password"
    autoComplete="new-password"
    limits={limitsOf(operation, 'password')}
    isRequired
  />
)

export const NameField = (props: TextProps) => (
  <LimitedField {...props} label="Name (optional)" autoComplete="name" limits={limitsOf('signUp', 'display_name')} />
)
