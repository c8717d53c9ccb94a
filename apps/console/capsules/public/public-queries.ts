// What everyone can read of published capsules. None of these requests needs an account.
import { queryOptions } from '@tanstack/react-query'
import { jsonFields } from '../../../../domain/json/json-text.js'
import { api, bodyOf, fetchPart } from '../../api/client.js'
import type { components } from '../../api/schema.js'
import { LISTED } from '../record/capsule-queries.js'
import { type CapsuleTask, readTasks } from '../record/capsule-record.js'
import type { CatalogueFilters } from './catalogue-filters.js'

export const CATALOGUE_PAGE = 25

export const catalogueQuery = ({ page = 1, ...filters }: CatalogueFilters) =>
  queryOptions({
    queryKey: ['public capsules', filters, page],
    queryFn: ({ signal }) => {
      const query = { ...filters, limit: CATALOGUE_PAGE, offset: (page - 1) * CATALOGUE_PAGE }
      return bodyOf(api.GET('/api/capsules/public', { params: { query }, signal }))
    }
  })

export const pathOf = (slug: string): string => `/api/capsules/public/${encodeURIComponent(slug)}`

type PublicRecord = Omit<components['schemas']['PublicCapsule'], 'workflow'>

export interface PublishedCapsule {
  record: PublicRecord
  tasks: readonly CapsuleTask[]
}

/** Parameters keep every digit. */
export const publicCapsuleQuery = (slug: string) =>
  queryOptions({
    queryKey: ['public capsule', slug],
    queryFn: async ({ signal }): Promise<PublishedCapsule> => {
      const fields = jsonFields(await (await fetchPart(pathOf(slug), signal)).text())
      const workflow = fields.get('workflow') ?? 'null'
      fields.delete('workflow')
      const record = Object.fromEntries([...fields].map(([name, value]) => [name, JSON.parse(value)])) as PublicRecord
      return { record, tasks: workflow === 'null' ? [] : readTasks(jsonFields(workflow).get('tasks') ?? '[]') }
    }
  })

/** @param page from 1, newest first. */
export const publicVerificationsQuery = (slug: string, page: number) =>
  queryOptions({
    queryKey: ['public capsule', slug, 'verifications', page],
    queryFn: ({ signal }) => {
      const query = { limit: LISTED.verifications, offset: (page - 1) * LISTED.verifications }
      return bodyOf(api.GET('/api/capsules/public/{slug}/verifications', { params: { path: { slug }, query }, signal }))
    }
  })
