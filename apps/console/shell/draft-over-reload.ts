// Keeps what is typed in the playground while the page is loaded again, by its reader or for a newer build of the console.
// It stands in the storage of the tab from the end of one page to the beginning of the next, and no longer.
import type { QueryClient } from '@tanstack/react-query'
import { draftKey } from '../playground/draft-key.js'

const KEY = 'playground draft'

export function keepDraftOverReload(queryClient: QueryClient): void {
  queryClient.setQueryDefaults(draftKey, { gcTime: Number.POSITIVE_INFINITY })
  // A browser that has no storage here, or none left, keeps nothing.
  try {
    const kept = sessionStorage.getItem(KEY)
    sessionStorage.removeItem(KEY)
    if (kept !== null) queryClient.setQueryData(draftKey, JSON.parse(kept))
  } catch {}
  addEventListener('pagehide', () => {
    const draft = queryClient.getQueryData(draftKey)
    try {
      if (draft) sessionStorage.setItem(KEY, JSON.stringify(draft))
    } catch {}
  })
  // A page that the browser has kept as it was needs no copy.
  addEventListener('pageshow', () => {
    try {
      sessionStorage.removeItem(KEY)
    } catch {}
  })
}
