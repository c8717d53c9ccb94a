import { useMutation } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { Button } from '../components/button.js'
import { Field } from '../components/fields.js'
import { Refusal } from '../components/notice.js'
import styles from './account-page.module.css'

/** A form with one button; the refusal of the service stands above it. */
export function AccountForm(props: { button: string; send: () => Promise<unknown>; children?: ReactNode }) {
  const { mutate, isPending, error } = useMutation({ mutationFn: props.send })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      {props.children}
      <Refusal error={error} />
      <Button kind="main" type="submit" isDisabled={isPending}>
        {props.button}
      </Button>
    </form>
  )
}

interface TextProps {
  value: string
  onChange: (value: string) => void
}

export const EmailField = (props: TextProps & { isReadOnly?: boolean }) => (
  <Field {...props} label="Email" type="email" name="email" autoComplete="username" isRequired />
)

export const PasswordField = (props: TextProps) => (
  <Field {...props} label="Password" type="password" autoComplete="current-password" isRequired />
)

export const NewPasswordField = (props: TextProps & { label?: string }) => (
  <Field
    {...props}
    label={props.label ?? 'Password'}
    type="password"
    autoComplete="new-password"
    help="At least 10 characters"
    isRequired
  />
)
