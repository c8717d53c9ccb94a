import type { ReactNode } from 'react'
import { Input, Label, Text, TextArea, TextField, type TextFieldProps } from 'react-aria-components'
import styles from './controls.module.css'

type FieldProps = Omit<TextFieldProps, 'children'> & {
  label: string
  help?: ReactNode
  /** What is wrong with it. */
  fault?: string | null
}

/** The service checks what is typed, so nothing here keeps a form from being sent. */
export function Field({ label, help, fault, ...props }: FieldProps) {
  return (
    <TextField {...props} className={styles.field!} isInvalid={Boolean(fault)} validationBehavior="aria">
      <Label className={styles.label!}>{label}</Label>
      <Input className={styles.input!} />
      <Notes help={help} fault={fault} />
    </TextField>
  )
}

export function AreaField({ label, help, fault, rows = 12, ...props }: FieldProps & { rows?: number }) {
  return (
    <TextField {...props} className={styles.field!} isInvalid={Boolean(fault)} validationBehavior="aria">
      <Label className={styles.label!}>{label}</Label>
      <TextArea className={`${styles.input} ${styles.code}`} rows={rows} spellCheck={false} />
      <Notes help={help} fault={fault} />
    </TextField>
  )
}

function Notes({ help, fault }: Pick<FieldProps, 'help' | 'fault'>) {
  return (
    <>
      {help ? (
        <Text slot="description" className={styles.help!}>
          {help}
        </Text>
      ) : null}
      {fault ? (
        <Text slot="errorMessage" className={styles.fault!}>
          {fault}
        </Text>
      ) : null}
    </>
  )
}

export interface Option {
  value: string
  text: string
  disabled?: boolean
}

/** The browser's own list: it works with any keyboard and on any phone. */
export function Choice(props: {
  label: string
  /** For screen readers alone, where a heading says it to the others. */
  labelUnseen?: boolean
  value: string
  options: readonly Option[]
  onChange: (value: string) => void
  fault?: string | null
}) {
  return (
    <label className={styles.field}>
      <span className={props.labelUnseen ? styles.unseen : styles.label}>{props.label}</span>
      <select className={styles.input} value={props.value} onChange={(event) => props.onChange(event.target.value)}>
        {props.options.map(({ value, text, disabled }) => (
          <option key={value} value={value} disabled={disabled}>
            {text}
          </option>
        ))}
      </select>
      {props.fault ? <span className={styles.fault}>{props.fault}</span> : null}
    </label>
  )
}
