// The published capsules of all teams, for everyone.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/button.js'
import { Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Empty, Loading, Refusal } from '../../components/notice.js'
import { Pager } from '../../components/pager.js'
import { Table, Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { type CatalogueFilters, readCatalogueFilters } from './catalogue-filters.js'
import { catalogueQuery } from './public-queries.js'

const route = getRouteApi('/open/public')

export function CataloguePage() {
  usePageTitle('Published capsules')
  const filters = readCatalogueFilters(route.useSearch() as Record<string, unknown>)
  const navigate = route.useNavigate()
  const list = useQuery({ ...catalogueQuery(filters), placeholderData: keepPreviousData })
  return (
    <>
      <h1>Published capsules</h1>
      <p>
        Each holds what was run, signed, with its results. This page checks the signature in your browser, and anyone
        can run a capsule again.
      </p>
      <Search filters={filters} />
      <Refusal error={list.error} />
      {list.isPending ? <Loading /> : null}
      {list.data?.capsules.length === 0 ? (
        <Empty title="No published capsule matches">
          <p>Search for something else.</p>
        </Empty>
      ) : null}
      {list.data && list.data.capsules.length > 0 ? (
        <>
          <Table
            label="Published capsules"
            heads={['Title', 'Description', 'Tags', 'Category', 'License', 'Published']}
          >
            {list.data.capsules.map((item) => (
              <tr key={item.id}>
                <Wide>
                  <Link to="/public/$slug" params={{ slug: item.slug }}>
                    {item.title}
                  </Link>
                </Wide>
                <Wide>{item.description}</Wide>
                <td>{item.tags.join(', ')}</td>
                <td>{item.category ?? '–'}</td>
                <td>{item.license ?? '–'}</td>
                <td>
                  <Time at={item.published_at} />
                </td>
              </tr>
            ))}
          </Table>
          <Pager
            end={list.data}
            rows={list.data.capsules.length}
            noun="capsule"
            onPage={(next) => void navigate({ search: (search) => ({ ...search, page: next }) })}
          />
        </>
      ) : null}
    </>
  )
}

function Search({ filters }: { filters: CatalogueFilters }) {
  const navigate = route.useNavigate()
  const [form, setForm] = useState({ q: filters.q ?? '', tag: filters.tag ?? '', category: filters.category ?? '' })
  const set = (name: keyof typeof form) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  return (
    <search>
      <form
        className={layout.filters}
        onSubmit={(event) => {
          event.preventDefault()
          void navigate({
            search: (search: Record<string, unknown>) => {
              const { q: _, tag: __, category: ___, page: ____, ...others } = search
              return { ...others, ...readCatalogueFilters(form) }
            }
          })
        }}
      >
        <Field label="Title or description" value={form.q} onChange={set('q')} />
        <Field label="Tag" value={form.tag} onChange={set('tag')} />
        <Field label="Category" value={form.category} onChange={set('category')} />
        <Button type="submit">Search</Button>
      </form>
    </search>
  )
}
