// The pages of a list that were read so far, and how what changes later gets into them. Pages follow each other by cursor, so a
// page that is read again begins where it began before.
import type { InfiniteData } from '@tanstack/react-query'
import type { components } from '../../api/schema.js'

export type ListPage = components['schemas']['ListJobsResponse']
export type ListPages = InfiniteData<ListPage, string | null>
type Item = ListPage['jobs'][number]

interface JobChange {
  job_id: string
  status: Item['status']
  queue: Item['queue']
}

/** Every job once: between two reads of neighbouring pages a job can move from one into the other. */
export function jobsOf(pages: readonly ListPage[]): Item[] {
  const seen = new Set<string>()
  return pages.flatMap(({ jobs }) =>
    jobs.filter(({ id }) => {
      const isNew = !seen.has(id)
      seen.add(id)
      return isNew
    })
  )
}

/** Shows a change at once; `null` where the list does not have the job. The page is to be read again for the rest of it. */
export function withChange(
  data: ListPages,
  { job_id, status, queue }: JobChange
): { data: ListPages; page: number } | null {
  const page = data.pages.findIndex(({ jobs }) => jobs.some(({ id }) => id === job_id))
  if (page < 0) return null
  const pages = data.pages.map((known, at) =>
    at === page
      ? { ...known, jobs: known.jobs.map((job) => (job.id === job_id ? { ...job, status, queue } : job)) }
      : known
  )
  return { data: { ...data, pages }, page }
}

/** Puts a page that was read again in its place. */
export function withPage(data: ListPages, page: number, fresh: ListPage): ListPages {
  const known = data.pages[page]
  if (!known) return data
  const isOnly = data.pages.length === 1
  const placed = page === 0 && !isOnly ? withPushedOut(known, fresh) : fresh
  return { ...data, pages: data.pages.map((other, at) => (at === page ? placed : other)) }
}

/** New jobs push others out of the first page; the second, which begins after its old end, does not have them. */
function withPushedOut(known: ListPage, fresh: ListPage): ListPage {
  const last = fresh.jobs.at(-1)
  if (!last) return fresh
  const shown = new Set(fresh.jobs.map(({ id }) => id))
  const pushedOut = known.jobs.filter((job) => !shown.has(job.id) && isOlder(job, last))
  return { ...fresh, jobs: [...fresh.jobs, ...pushedOut], next_cursor: known.next_cursor }
}

const isOlder = (one: Item, other: Item): boolean =>
  one.created_at === other.created_at ? one.id < other.id : one.created_at < other.created_at
