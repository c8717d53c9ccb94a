// Two jobs beside each other, or a run in this browser and a job: whether their counts come from one distribution, in the
// service's words, and the counts.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { Button } from '../../components/button.js'
import { Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Loading, Refusal } from '../../components/notice.js'
import { shortId } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { jobQuery } from '../record/job-queries.js'
import { ComparedWithBrowser } from './browser/compared-with-browser.js'
import { BROWSER, type CompareSearch, pointOf, selectorOf } from './compare-search.js'
import { Comparison } from './comparison.js'

const route = getRouteApi('/signed-in/jobs/compare')

export function ComparePage() {
  const { a, b, a_point, b_point, margin } = route.useSearch()
  const given = { a, b, a_point, b_point, margin }
  const isOfBrowser = a === BROWSER
  const title = isOfBrowser ? 'Compare a run in this browser with a job' : 'Compare two jobs'
  usePageTitle(title)
  return (
    <>
      <h1>{title}</h1>
      <Selection key={JSON.stringify(given)} given={given} />
      {isOfBrowser ? (
        <ComparedWithBrowser b={b} margin={margin} />
      ) : a !== undefined && b !== undefined ? (
        <Compared a={{ id: a, point: a_point }} b={{ id: b, point: b_point }} margin={margin} />
      ) : null}
    </>
  )
}

type Given = { [Name in keyof CompareSearch]: CompareSearch[Name] | undefined }

function Selection({ given }: { given: Given }) {
  const navigate = route.useNavigate()
  const isOfBrowser = given.a === BROWSER
  const [form, setForm] = useState({
    a: given.a ?? '',
    b: given.b ?? '',
    pointA: typed(given.a_point),
    pointB: typed(given.b_point),
    margin: typed(given.margin)
  })
  const set = (name: keyof typeof form) => (value: string) => setForm((known) => ({ ...known, [name]: value.trim() }))
  const compare = (event: FormEvent) => {
    event.preventDefault()
    const { a, b, pointA, pointB } = form
    const points = { ...pointOf('a', pointA), ...pointOf('b', pointB) }
    const margin = form.margin === '' ? {} : { margin: Number(form.margin) }
    void navigate({ search: ({ team }: { team?: string }) => ({ ...(team && { team }), a, b, ...points, ...margin }) })
  }
  return (
    <form className={layout.filters} onSubmit={compare}>
      {isOfBrowser ? null : (
        <>
          <Field label="Id of the first job" value={form.a} onChange={set('a')} />
          <Field
            label="Its point, of a sweep (optional)"
            inputMode="numeric"
            value={form.pointA}
            onChange={set('pointA')}
          />
        </>
      )}
      <Field label={isOfBrowser ? 'Id of the job' : 'Id of the second job'} value={form.b} onChange={set('b')} />
      {isOfBrowser ? null : (
        <Field
          label="Point of the second, of a sweep (optional)"
          inputMode="numeric"
          value={form.pointB}
          onChange={set('pointB')}
        />
      )}
      <Field label="Tolerated distance (optional)" inputMode="decimal" value={form.margin} onChange={set('margin')} />
      <Button kind="main" type="submit">
        Compare
      </Button>
    </form>
  )
}

interface Side {
  id: string
  point: number | undefined
}

const typed = (number: number | undefined): string => (number === undefined ? '' : String(number))

function Compared({ a, b, margin }: { a: Side; b: Side; margin: number | undefined }) {
  const comparison = useQuery({
    queryKey: ['comparison', a, b, margin ?? null],
    // Two completed jobs compare alike at any time.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => {
      const [from, to] = [selectorOf(a.id, a.point), selectorOf(b.id, b.point)]
      const body = { a: from, b: to, ...(margin !== undefined && { margin }) }
      return bodyOf(api.POST('/api/jobs/compare', { body, signal }))
    }
  })
  const [nameA, nameB] = [useNameOf(a), useNameOf(b)]
  const names = useMemo(() => ({ a: nameA, b: nameB }), [nameA, nameB])
  return (
    <>
      <p>
        <JobLink id={a.id} name={names.a} /> and <JobLink id={b.id} name={names.b} />
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

function useNameOf({ id, point }: Side): string {
  const { data } = useQuery(jobQuery(id))
  const name = data?.record.name ?? `Job ${shortId(id)}`
  return point === undefined ? name : `${name}, point ${point}`
}

const JobLink = ({ id, name }: { id: string; name: string }) => (
  <Link to="/jobs/$id" params={{ id }}>
    {name}
  </Link>
)
