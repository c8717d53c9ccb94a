import { Choice, Field } from '../../components/fields.js'

/** All as typed. */
interface Settings {
  shots: string
  seed: string
  name: string
  mode: string
  maxCost: string
}

/** The fields that a job has whatever it runs. @param faultAt gives the fault of a field. */
export function SettingsFields(props: {
  settings: Settings
  set: (name: keyof Settings) => (value: string) => void
  faultAt: (name: keyof Settings) => string | null
  modes: readonly string[]
}) {
  const { settings, set, faultAt, modes } = props
  return (
    <>
      <Field
        label="Shots"
        inputMode="numeric"
        value={settings.shots}
        onChange={set('shots')}
        fault={faultAt('shots')}
      />
      <Field
        label="Seed (optional)"
        inputMode="numeric"
        value={settings.seed}
        onChange={set('seed')}
        fault={faultAt('seed')}
      />
      <Field
        label="Name (optional)"
        value={settings.name}
        onChange={set('name')}
        maxLength={200}
        fault={faultAt('name')}
      />
      <Choice
        label="Mode"
        value={settings.mode}
        options={[{ value: '', text: 'As the service does' }, ...modes.map((value) => ({ value, text: value }))]}
        onChange={set('mode')}
      />
      <Field
        label="Cost at most, in USD (optional)"
        inputMode="decimal"
        value={settings.maxCost}
        onChange={set('maxCost')}
        fault={faultAt('maxCost')}
      />
    </>
  )
}
