import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { metaQuery } from '../../api/queries.js'
import { AreaField, Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { type Limits, limitsOf, listText } from '../../components/limits/limits.js'
import { AUTO, type JobSettings } from './settings.js'

interface FieldsProps {
  settings: JobSettings
  set: (name: keyof JobSettings) => (value: string) => void
  /** The fault of a field. */
  faultAt: (name: keyof JobSettings) => string | null
}

/** What is chosen of most jobs. */
export function SettingsFields({ settings, set, faultAt }: FieldsProps) {
  const field = fieldOf({ settings, set, faultAt })
  return (
    <>
      {field('shots', { label: 'Shots', inputMode: 'numeric' })}
      {field('seed', { label: 'Seed (optional)', inputMode: 'numeric' })}
      {field('name', { label: 'Name (optional)' })}
      {field('maxCost', { label: 'Cost at most, in USD (optional)', inputMode: 'decimal' })}
    </>
  )
}

/** The wishes of a job whose backend the service chooses. */
export function WishFields({ settings, set, faultAt }: FieldsProps) {
  if (settings.backend !== AUTO) return null
  const field = fieldOf({ settings, set, faultAt })
  return (
    <div className={layout.filters}>
      <Choice
        label="Kind of backend"
        value={settings.hardware}
        options={[
          { value: '', text: 'Any' },
          { value: 'true', text: 'A quantum computer' },
          { value: 'false', text: 'A simulator' }
        ]}
        onChange={set('hardware')}
      />
      {field('maxWait', { label: 'Queue at most, in seconds (optional)', inputMode: 'numeric' })}
      {field('minQubits', { label: 'Qubits at least (optional)', inputMode: 'numeric' })}
      {field('wishedCost', { label: 'Price at most, in USD (optional)', inputMode: 'decimal' })}
    </div>
  )
}

const more = ['params', 'labels', 'timeout', 'notBefore', 'notify', 'mode'] as const

/** What few jobs need: closed until it is opened, or one of its fields has a fault. @param paramsHelp under the parameters. */
export function MoreFields({ settings, set, faultAt, paramsHelp }: FieldsProps & { paramsHelp?: string }) {
  const { data: meta } = useQuery(metaQuery)
  const [isOpen, setOpen] = useState(() => more.some((name) => settings[name] !== ''))
  const { execution_modes = [], mail } = meta?.features ?? {}
  const field = fieldOf({ settings, set, faultAt })
  return (
    <details
      open={isOpen || more.some((name) => faultAt(name) !== null)}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>More</summary>
      <div className={layout.panel}>
        <AreaField
          label="Parameters, as JSON (optional)"
          rows={4}
          value={settings.params}
          onChange={set('params')}
          fault={faultAt('params')}
          help={paramsHelp ?? 'Such as {"observables": ["ZZ"], "noise_model": {"like": "iqm-garnet"}}'}
        />
        <div className={layout.filters}>
          <Choice
            label="Mode"
            value={settings.mode}
            options={[
              { value: '', text: 'As the service does' },
              ...execution_modes.map((value) => ({ value, text: value }))
            ]}
            onChange={set('mode')}
          />
          {field('timeout', { label: 'Time-out of one execution, in seconds (optional)', inputMode: 'numeric' })}
          {field('notBefore', { label: 'Not before (optional)', help: 'Such as 2030-01-31T20:00:00Z' })}
          <Choice
            label="When it has ended"
            value={settings.notify}
            options={[
              { value: '', text: 'No email' },
              mail === false
                ? { value: 'email', text: 'An email to you: this service sends none', disabled: true }
                : { value: 'email', text: 'An email to you' }
            ]}
            onChange={set('notify')}
            fault={faultAt('notify')}
          />
        </div>
        <AreaField
          label="Labels, one a line (optional)"
          help={listText(limitsOf('submitJob', 'labels'), limitsOf('submitJob', 'labels[]'))}
          rows={2}
          value={settings.labels}
          onChange={set('labels')}
          fault={faultAt('labels')}
        />
      </div>
    </details>
  )
}

type Words = Pick<Parameters<typeof LimitedField>[0], 'label' | 'help' | 'inputMode'>

const limits: Partial<Record<keyof JobSettings, Limits>> = {
  shots: limitsOf('submitJob', 'params.shots'),
  seed: limitsOf('submitJob', 'params.seed'),
  name: limitsOf('submitJob', 'name'),
  maxCost: limitsOf('submitJob', 'max_cost_usd'),
  maxWait: limitsOf('submitJob', 'choose.max_wait_seconds'),
  minQubits: limitsOf('submitJob', 'choose.min_qubits'),
  wishedCost: limitsOf('submitJob', 'choose.max_cost_usd'),
  timeout: limitsOf('submitJob', 'timeout_seconds')
}

const fieldOf =
  ({ settings, set, faultAt }: FieldsProps) =>
  (name: keyof JobSettings, words: Words) => (
    <LimitedField
      {...words}
      limits={limits[name] ?? {}}
      value={settings[name]}
      onChange={set(name)}
      fault={faultAt(name)}
    />
  )
