// A run in this browser as one side of a comparison. It is kept until the page is loaded again or its owner signs out.
import { type QueryClient, useQuery } from '@tanstack/react-query'
import { randomKey } from '../../../api/write-key.js'
import type { BrowserSide } from './browser-comparison.js'

type Kept = BrowserSide & { id: string }

const runQuery = {
  queryKey: ['run in this browser'],
  queryFn: (): Kept | null => null,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY
}

/** The last run alone. Signing out empties the cache that holds it. */
export function keepBrowserRun(queryClient: QueryClient, { where, result }: BrowserSide): void {
  queryClient.setQueryDefaults(runQuery.queryKey, { gcTime: Number.POSITIVE_INFINITY })
  queryClient.setQueryData(runQuery.queryKey, { id: randomKey(), where, result })
}

/** `null` where there is none; `undefined` for a moment. */
export const useBrowserRun = (): Kept | null | undefined => useQuery(runQuery).data
