// What is shown of a trail: one action, a span of time, and where numbers of entries exist, those up to one.
import { type FormEvent, useState } from 'react'
import { Button } from '../components/button.js'
import { Choice, Field } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { isoTime, localTime, type TrailFilters } from './trail-filters.js'

interface Props {
  /** The words of each action. */
  actions: Readonly<Record<string, string>>
  filters: TrailFilters
  onChange: (filters: TrailFilters) => void
  numbered?: boolean
}

export function TrailFilterForm({ actions, filters, onChange, numbered = false }: Props) {
  const { action = '', from, to, entry, capsule } = filters
  const [typed, setTyped] = useState({ action, from: localTime(from), to: localTime(to), entry: String(entry ?? '') })
  const set = (name: keyof typeof typed) => (value: string) => setTyped((known) => ({ ...known, [name]: value }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const [since, until] = [isoTime(typed.from), isoTime(typed.to)]
    const number = Number(typed.entry)
    onChange({
      ...(typed.action && { action: typed.action }),
      ...(since && { from: since }),
      ...(until && { to: until }),
      ...(capsule && { capsule }),
      ...(Number.isSafeInteger(number) && number > 0 && { entry: number })
    })
  }
  const clear = () => {
    setTyped({ action: '', from: '', to: '', entry: '' })
    onChange({})
  }
  return (
    <search>
      <form className={layout.filters} onSubmit={submit}>
        <Choice
          label="Action"
          value={typed.action}
          options={[
            { value: '', text: 'Any' },
            ...Object.entries(actions).map(([value, words]) => ({ value, text: `${words} (${value})` }))
          ]}
          onChange={set('action')}
        />
        <Field label="From" type="datetime-local" value={typed.from} onChange={set('from')} />
        <Field label="To" type="datetime-local" value={typed.to} onChange={set('to')} />
        {numbered ? (
          <Field label="Up to entry" inputMode="numeric" value={typed.entry} onChange={set('entry')} />
        ) : null}
        <div className={layout.bar}>
          <Button type="submit">Show</Button>
          <Button onPress={clear}>Show all</Button>
        </div>
      </form>
    </search>
  )
}
