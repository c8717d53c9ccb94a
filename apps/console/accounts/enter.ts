import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { sessionQuery } from '../api/queries.js'
import { draftKey } from '../playground/draft-key.js'

/** Goes to a page of a user who has just signed in. */
export function useEnter() {
  const queryClient = useQueryClient()
  const router = useRouter()
  return async (path = '/') => {
    const draft = queryClient.getQueryData(draftKey)
    queryClient.clear()
    queryClient.setQueryData(draftKey, draft)
    await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
    router.history.push(path)
  }
}
