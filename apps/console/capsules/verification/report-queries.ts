import { queryOptions } from '@tanstack/react-query'
import { fetchPart } from '../../api/client.js'
import { SHOWN_BYTES } from '../../jobs/record/job-record.js'

/** The text of a result that never changes; `null` for one that is too large to be drawn. */
export const resultTextQuery = (url: string) =>
  queryOptions({
    queryKey: ['result text', url],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<string | null> => {
      const response = await fetchPart(url, signal)
      if (Number(response.headers.get('content-length') ?? 0) <= SHOWN_BYTES) return response.text()
      await response.body?.cancel()
      return null
    }
  })
