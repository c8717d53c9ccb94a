import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { stringify } from 'lossless-json'
import { api, bodyOf } from '../api/client.js'
import type { components } from '../api/schema.js'
import { useWriteKey } from '../api/write-key.js'

type RunBody = components['schemas']['RunCapsuleRequest']

/** Starts a run and opens it among the runs of the capsule. */
export function useStartRun(id: string) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  return useMutation({
    mutationFn: (body: RunBody) =>
      withKey([id, stringify(body)], (header) =>
        bodyOf(
          api.POST('/api/capsules/{id}/run', {
            params: { path: { id }, header },
            body,
            bodySerializer: (value: unknown) => stringify(value) ?? ''
          })
        )
      ),
    onSuccess: async ({ capsule_run_id: run }) => {
      void queryClient.invalidateQueries({ queryKey: ['capsule', id] })
      await navigate({
        to: '/capsules/$id',
        params: { id },
        search: ({ team }: { team?: string }) => ({ ...(team && { team }), tab: 'runs' as const, run }),
        resetScroll: false
      })
    }
  })
}
