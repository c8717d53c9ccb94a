// Compares a point of a sweep with another point of it, or of another job.
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../components/button.js'
import { Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { pointOf } from '../compare/compare-search.js'

/** The service checks the numbers, and says what is wrong with them on the page of the comparison. */
export function ComparePoints({ id, points }: { id: string; points: number }) {
  const navigate = useNavigate()
  const [form, setForm] = useState({ a: '0', b: points > 1 ? '1' : '0' })
  const set = (name: keyof typeof form) => (value: string) => setForm((known) => ({ ...known, [name]: value.trim() }))
  const compare = (event: FormEvent) => {
    event.preventDefault()
    const search = { a: id, ...pointOf('a', form.a), b: id, ...pointOf('b', form.b) }
    void navigate({ to: '/jobs/compare', search })
  }
  return (
    <form className={layout.filters} aria-label="Compare points" onSubmit={compare}>
      <Field label="Compare point" inputMode="numeric" value={form.a} onChange={set('a')} />
      <Field label="with point" inputMode="numeric" value={form.b} onChange={set('b')} />
      <Button type="submit">Compare points</Button>
    </form>
  )
}
