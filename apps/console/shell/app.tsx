import { type Query, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect } from 'react'
import { createQueryClient } from '../api/queries.js'
import { onServiceState, serviceState } from '../api/service-state.js'
import { keepDraftOverReload } from './draft-over-reload.js'
import { createConsoleRouter } from './router.js'

const queryClient = createQueryClient()
const router = createConsoleRouter(queryClient)
keepDraftOverReload(queryClient)

export function App() {
  useEffect(readAgainWhenBack, [])
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  )
}

/** What is on the page may be old when the service was away. */
function readAgainWhenBack() {
  let reachable = serviceState().reachable
  return onServiceState(() => {
    const before = reachable
    reachable = serviceState().reachable
    // A list of jobs with many pages reads again what is seen of it (jobs/list/list-reader.ts); entries of a trail never change.
    const isList = ({ queryKey, state }: Query) =>
      (queryKey[0] === 'jobs' || queryKey[0] === 'trail') && state.data !== undefined
    if (reachable && !before) void queryClient.invalidateQueries({ predicate: (query) => !isList(query) })
  })
}
