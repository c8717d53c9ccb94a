import { Choice, Field } from '../../components/fields.js'
import { faultIn, helpOf, type RunField } from './parameters.js'
import styles from './run.module.css'

/** One parameter of a script: its kind decides the field, and its record what stands below it. */
export function ParameterField(props: {
  field: RunField
  text: string
  onChange: (text: string) => void
  /** What the service says of it. */
  refusal: string | null
}) {
  const { field, text, onChange, refusal } = props
  if (field.described?.type === 'boolean')
    return (
      <div>
        <Choice
          label={field.name}
          value={text}
          options={[
            { value: '', text: `${String(field.described.default)}, as the script does` },
            { value: 'true', text: 'true' },
            { value: 'false', text: 'false' }
          ]}
          onChange={onChange}
          fault={refusal}
        />
        <p className={styles.help}>{field.described.description}</p>
      </div>
    )
  return (
    <Field
      label={field.name}
      value={text}
      onChange={onChange}
      help={helpOf(field)}
      fault={faultIn(field, text) ?? refusal}
    />
  )
}
