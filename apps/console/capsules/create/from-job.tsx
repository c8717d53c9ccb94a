// A capsule from a completed job, offered on the job's page.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { fieldFault } from '../../api/field-fault.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { Modal } from '../../components/modal.js'
import { Refusal } from '../../components/notice.js'

/** @param why it cannot be made, in the words of the job's record. */
export function MakeCapsule({ job, why }: { job: { id: string; name: string | null }; why: string | null }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button why={why} onPress={() => setOpen(true)}>
        Make a capsule
      </Button>
      {open ? <FromJobDialog job={job} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function FromJobDialog({ job, onClose }: { job: { id: string; name: string | null }; onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const [name, setName] = useState(job.name ?? '')
  const [description, setDescription] = useState('')
  const make = useMutation({
    mutationFn: () => {
      const body = { job_id: job.id, ...(name.trim() !== '' && { name }), ...(description !== '' && { description }) }
      return withKey(body, (header) => bodyOf(api.POST('/api/capsules/from-job', { params: { header }, body })))
    },
    onSuccess: async ({ capsule_id: id }) => {
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
      onClose()
      await navigate({ to: '/capsules/$id', params: { id } })
    }
  })
  const fault = fieldFault(make.error, ['name', 'description'])
  const send = (event: FormEvent) => {
    event.preventDefault()
    make.mutate()
  }
  return (
    <Modal title="Make a capsule" onClose={onClose}>
      <form className={layout.panel} onSubmit={send}>
        <p>
          The capsule holds the program, parameters, backend, result, times and costs of this job. It cannot be changed;
          it can be sealed, verified and deleted.
        </p>
        <LimitedField
          label="Name (optional)"
          value={name}
          onChange={setName}
          limits={limitsOf('createCapsuleFromJob', 'name')}
          fault={fault?.field === 'name' ? fault.text : null}
        />
        <LimitedField
          label="Description (optional)"
          value={description}
          onChange={setDescription}
          limits={limitsOf('createCapsuleFromJob', 'description')}
          fault={fault?.field === 'description' ? fault.text : null}
        />
        {fault ? null : <Refusal error={make.error} />}
        <div className={layout.bar}>
          <Button kind="main" type="submit" isDisabled={make.isPending}>
            Make the capsule
          </Button>
          <Button onPress={onClose}>Close</Button>
        </div>
      </form>
    </Modal>
  )
}
