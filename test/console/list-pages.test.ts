import { expect, test } from '@jest/globals'
import { jobsOf, type ListPage, type ListPages, withChange, withPage } from '../../apps/console/jobs/list/list-pages.js'

/** Job 9 is newer than job 1. */
const job = (number: number, status = 'pending') => ({
  id: `job-${number}`,
  created_at: `2026-11-0${number}T00:00:00.000Z`,
  status,
  queue: null
})
const page = (numbers: readonly number[], next: string | null = null) =>
  ({ jobs: numbers.map((number) => job(number)), total: 9, next_cursor: next }) as unknown as ListPage
const list = (...pages: ListPage[]): ListPages => ({ pages, pageParams: [null, 'b', 'c'].slice(0, pages.length) })
const ids = ({ pages }: ListPages) => jobsOf(pages).map(({ id }) => Number(id.slice(4)))

test('a change is shown where the job is, and names the page that has to be read again', () => {
  const changed = withChange(list(page([6, 5], 'b'), page([4, 3])), { job_id: 'job-4', status: 'running', queue: null })
  expect(changed!.page).toBe(1)
  expect(changed!.data.pages[1]!.jobs.map(({ status }) => status)).toEqual(['running', 'pending'])
  expect(withChange(list(page([6])), { job_id: 'job-1', status: 'running', queue: null })).toBeNull()
})

test('new jobs push no other out of a list of several pages', () => {
  const known = list(page([6, 5], 'b'), page([4, 3]))
  const read = withPage(known, 0, page([8, 7], 'other'))
  expect(ids(read)).toEqual([8, 7, 6, 5, 4, 3])
  expect(read.pages[0]!.next_cursor).toBe('b')
})

test('a job that matches the filters no longer leaves the list when its page is read again', () => {
  expect(ids(withPage(list(page([6, 5, 4], 'b'), page([3])), 0, page([6, 4, 3], 'b')))).toEqual([6, 4, 3])
  expect(ids(withPage(list(page([6, 5])), 0, page([5])))).toEqual([5])
})

test('a job that has moved between two pages stands in the list once', () => {
  expect(ids(list(page([6, 5, 4], 'b'), page([4, 3])))).toEqual([6, 5, 4, 3])
})
