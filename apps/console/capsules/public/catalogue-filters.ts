// What the public catalogue is searched for, as its address holds it.
import { readPage } from '../../shell/page-number.js'

export interface CatalogueFilters {
  q?: string
  tag?: string
  category?: string
  /** From 1; absent: the first. */
  page?: number
}

export function readCatalogueFilters({ q, tag, category, page }: Record<string, unknown>): CatalogueFilters {
  const texts = Object.entries({ q, tag, category }).filter(([, value]) => typeof value === 'string' && value !== '')
  return { ...(Object.fromEntries(texts) as CatalogueFilters), ...readPage({ page }) }
}
