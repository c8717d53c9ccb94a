// The search and the pages of a list. Both are in the address.
import { type FormEvent, useState } from 'react'
import { Button } from '../components/button.js'
import { Field } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { groupedDigits } from '../text/exact-numbers.js'

export const PAGE = 50

interface PageEnd {
  total: number
  total_capped?: true
  offset: number
}

export function SearchForm({ label, q, onSearch }: { label: string; q: string; onSearch: (q: string) => void }) {
  const [text, setText] = useState(q)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSearch(text.trim())
  }
  return (
    <search>
      <form className={layout.bar} onSubmit={submit}>
        <Field label={label} value={text} onChange={setText} />
        <Button type="submit">Search</Button>
      </form>
    </search>
  )
}

/** @param rows how many are shown. @param onPage gets the first row of the page to show. */
export function Pager({ page, rows, onPage }: { page: PageEnd; rows: number; onPage: (row: number) => void }) {
  const { total, total_capped, offset } = page
  const all = `${total_capped ? 'at least ' : ''}${groupedDigits(total)}`
  const isLast = total_capped ? rows < PAGE : offset + rows >= total
  return (
    <div className={layout.bar}>
      <p className={layout.quiet} role="status">
        {rows === 0 ? `None of ${all}` : `${groupedDigits(offset + 1)} to ${groupedDigits(offset + rows)} of ${all}`}
      </p>
      {offset > 0 ? <Button onPress={() => onPage(Math.max(0, offset - PAGE))}>Previous</Button> : null}
      {isLast ? null : <Button onPress={() => onPage(offset + PAGE)}>Next</Button>}
    </div>
  )
}
