import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { useWriteKey } from '../api/write-key.js'
import { MakeCapsule } from '../capsules/create/from-job.js'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { Refusal } from '../components/notice.js'
import { RunHere, runsHere } from './compare/browser/run-here.js'
import type { ReadJob } from './record/job-record.js'
import { whyNotEdited } from './submit/again.js'
import { EditDialog } from './submit/submit-dialog.js'

/** What the caller may do comes with the record, in the words of the refusal; where it is not said, the press brings it. */
export function JobActions({ job }: { job: ReadJob }) {
  const { id, can, name, status } = job.record
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [editing, setEditing] = useState(false)
  const [cancelKey, rerunKey] = [useWriteKey(), useWriteKey()]
  const path = { id }
  const cancel = useMutation({
    mutationFn: () =>
      cancelKey(id, (header) =>
        bodyOf(api.POST('/api/jobs/{id}/cancel', { params: { path, header }, parseAs: 'text' }))
      ),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['job', id] })
  })
  const rerun = useMutation({
    mutationFn: () => rerunKey(id, (header) => bodyOf(api.POST('/api/jobs/{id}/rerun', { params: { path, header } }))),
    onSuccess: async ({ job_id }) => {
      await navigate({ to: '/jobs/$id', params: { id: job_id } })
    }
  })
  return (
    <>
      <div className={layout.bar}>
        <Button kind="danger" why={refusal(can?.cancel)} isDisabled={cancel.isPending} onPress={() => cancel.mutate()}>
          Cancel
        </Button>
        <Button why={refusal(can?.rerun)} isDisabled={rerun.isPending} onPress={() => rerun.mutate()}>
          Run again
        </Button>
        <Button why={whyNotEdited(job.record)} onPress={() => setEditing(true)}>
          Edit and run again
        </Button>
        <MakeCapsule job={{ id, name }} why={refusal(can?.make_capsule)} />
        {status === 'completed' ? (
          <Link to="/jobs/compare" search={{ a: id }}>
            Compare with another job
          </Link>
        ) : null}
        {runsHere(job) ? <RunHere job={job} /> : null}
      </div>
      <Refusal error={cancel.error ?? rerun.error} />
      {editing ? <EditDialog job={job} onClose={() => setEditing(false)} /> : null}
    </>
  )
}

const refusal = (may: true | string | undefined): string | null => (typeof may === 'string' ? may : null)
