// A list of administration: its search and its page are in the address.
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from '../components/button.js'
import { Field } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { Empty, Loading, Refusal } from '../components/notice.js'
import { type PageEnd, Pager } from '../components/pager.js'
import { Table } from '../components/table.js'

interface Props<Row> {
  /** What was read. */
  list: { data: PageEnd | undefined; error: unknown }
  rows: readonly Row[]
  label: string
  heads: readonly string[]
  /** The row of the table, with a key. */
  row: (row: Row) => ReactNode
  /** In the singular. */
  noun: string
  none: { title: string; text: string }
  onPage: (page: number) => void
}

/** Shows a page of the list, with steps to the others. */
export function List<Row>({ list: { data, error }, rows, label, heads, row, noun, none, onPage }: Props<Row>) {
  return (
    <>
      <Refusal error={error} />
      {data || error ? null : <Loading />}
      {data && rows.length === 0 ? (
        <Empty title={none.title}>
          <p>{none.text}</p>
        </Empty>
      ) : null}
      {rows.length > 0 ? (
        <Table label={label} heads={heads}>
          {rows.map(row)}
        </Table>
      ) : null}
      {data && rows.length + data.offset > 0 ? (
        <Pager end={data} rows={rows.length} noun={noun} onPage={onPage} />
      ) : null}
    </>
  )
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
