// Two jobs beside each other, or a run in this browser and a job: whether their counts come from one distribution, in the
// service's words, and the counts.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { Button } from '../../components/button.js'
import { Field } from '../../components/fields.js'
import { Loading, Refusal } from '../../components/notice.js'
import { shortId } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import styles from '../jobs.module.css'
import { jobQuery } from '../record/job-queries.js'
import { ComparedWithBrowser } from './browser/compared-with-browser.js'
import { BROWSER, type CompareSearch } from './compare-search.js'
import { Comparison } from './comparison.js'

const route = getRouteApi('/signed-in/jobs/compare')

export function ComparePage() {
  const { a, b, margin } = route.useSearch()
  const isOfBrowser = a === BROWSER
  const title = isOfBrowser ? 'Compare a run in this browser with a job' : 'Compare two jobs'
  usePageTitle(title)
  return (
    <>
      <h1>{title}</h1>
      <Selection key={`${a} ${b} ${margin}`} given={{ a, b, margin }} />
      {isOfBrowser ? (
        <ComparedWithBrowser b={b} margin={margin} />
      ) : a !== undefined && b !== undefined ? (
        <Compared a={a} b={b} margin={margin} />
      ) : null}
    </>
  )
}

type Given = { [Name in keyof CompareSearch]: CompareSearch[Name] | undefined }

function Selection({ given }: { given: Given }) {
  const navigate = route.useNavigate()
  const [form, setForm] = useState({
    a: given.a ?? '',
    b: given.b ?? '',
    margin: given.margin === undefined ? '' : String(given.margin)
  })
  const set = (name: keyof typeof form) => (value: string) => setForm((known) => ({ ...known, [name]: value.trim() }))
  const compare = (event: FormEvent) => {
    event.preventDefault()
    const { a, b } = form
    const margin = form.margin === '' ? {} : { margin: Number(form.margin) }
    void navigate({ search: ({ team }: { team?: string }) => ({ ...(team && { team }), a, b, ...margin }) })
  }
  return (
    <form className={styles.filters} onSubmit={compare}>
      {form.a === BROWSER ? null : (
        <Field label="Id of the first job" value={form.a} onChange={set('a')} maxLength={36} />
      )}
      <Field
        label={form.a === BROWSER ? 'Id of the job' : 'Id of the second job'}
        value={form.b}
        onChange={set('b')}
        maxLength={36}
      />
      <Field
        label="Tolerated distance (optional)"
        inputMode="decimal"
        value={form.margin}
        onChange={set('margin')}
        maxLength={20}
      />
      <Button kind="main" type="submit">
        Compare
      </Button>
    </form>
  )
}

function Compared({ a, b, margin }: { a: string; b: string; margin: number | undefined }) {
  const comparison = useQuery({
    queryKey: ['comparison', a, b, margin ?? null],
    // Two completed jobs compare alike at any time.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => {
      const body = { a, b, ...(margin !== undefined && { margin }) }
      return bodyOf(api.POST('/api/jobs/compare', { body, signal }))
    }
  })
  const [nameA, nameB] = [useNameOf(a), useNameOf(b)]
  const names = useMemo(() => ({ a: nameA, b: nameB }), [nameA, nameB])
  return (
    <>
      <p>
        <JobLink id={a} name={names.a} /> and <JobLink id={b} name={names.b} />
      </p>
      {comparison.data ? (
        <Comparison comparison={comparison.data} names={names} />
      ) : comparison.error ? (
        <Refusal error={comparison.error} />
      ) : (
        <Loading />
      )}
    </>
  )
}

function useNameOf(id: string): string {
  const { data } = useQuery(jobQuery(id))
  return data?.record.name ?? `Job ${shortId(id)}`
}

const JobLink = ({ id, name }: { id: string; name: string }) => (
  <Link to="/jobs/$id" params={{ id }}>
    {name}
  </Link>
)
