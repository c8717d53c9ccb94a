// What can be done with a capsule now. What may be pressed, and why not, comes with its record.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { useWriteKey } from '../api/write-key.js'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { Refusal } from '../components/notice.js'
import { ConfirmDialog } from './confirm-dialog.js'
import { CloneDialog } from './create/clone-dialog.js'
import { CreateDialog } from './create/create-dialog.js'
import type { ReadCapsule } from './record/capsule-record.js'
import { RunDialog } from './run-dialog.js'
import { useStartRun } from './use-start-run.js'
import { refusalOf } from './words.js'

const SealDialog = lazy(() => import('./seal/seal-dialog.js').then(({ SealDialog: dialog }) => ({ default: dialog })))
const PublishDialog = lazy(() =>
  import('./publish/publish-dialog.js').then(({ PublishDialog: dialog }) => ({ default: dialog }))
)

type Open = 'change' | 'seal' | 'publish' | 'archive' | 'delete' | 'clone' | 'run' | null

export function CapsuleActions({ capsule }: { capsule: ReadCapsule }) {
  const { id, name, state, team_id: teamId, can } = capsule.record
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const verify = useStartRun(id)
  return (
    <>
      <div className={layout.bar}>
        <Button
          kind="main"
          why={refusalOf(can?.verify)}
          isDisabled={verify.isPending}
          onPress={() => verify.mutate({ mode: 'verify' })}
        >
          Verify
        </Button>
        <Button why={refusalOf(can?.run)} onPress={() => setOpen('run')}>
          Run as a template
        </Button>
        <Button onPress={() => setOpen('seal')} why={refusalOf(can?.seal)}>
          Seal
        </Button>
        <Button onPress={() => setOpen('publish')} why={refusalOf(can?.publish)}>
          Publish
        </Button>
        <Button onPress={() => setOpen('archive')} why={refusalOf(can?.archive)}>
          Archive
        </Button>
        <Button onPress={() => setOpen('change')} why={refusalOf(can?.update)}>
          Change
        </Button>
        <Button onPress={() => setOpen('clone')} why={refusalOf(can?.clone)}>
          Clone
        </Button>
        <Button kind="danger" onPress={() => setOpen('delete')} why={refusalOf(can?.delete)}>
          Delete
        </Button>
      </div>
      <p>
        Export as <a href={`/api/capsules/${id}/export?format=capsule`}>a capsule package</a> or{' '}
        <a href={`/api/capsules/${id}/export?format=rocrate`}>an RO-Crate</a>
        {state === 'draft' || state === 'runnable' ? null : (
          <>
            ;{' '}
            <a href={`/api/capsules/${id}/attestation`} download={`${id}.attestation.json`}>
              the signed attestation
            </a>
          </>
        )}
        . What was done to it stands in{' '}
        <Link to="/audit" search={{ team: teamId, capsule: id }}>
          its audit trail
        </Link>
        .
      </p>
      <Refusal error={verify.error} />
      {open === 'change' ? <CreateDialog draft={capsule} onClose={close} /> : null}
      {open === 'clone' ? <CloneDialog capsule={{ id, name, teamId }} onClose={close} /> : null}
      {open === 'run' ? <RunDialog capsule={capsule} onClose={close} /> : null}
      {open === 'archive' ? <ArchiveDialog id={id} onClose={close} /> : null}
      {open === 'delete' ? <DeleteDialog id={id} onClose={close} /> : null}
      <Suspense>
        {open === 'seal' ? <SealDialog capsule={capsule} onClose={close} /> : null}
        {open === 'publish' ? <PublishDialog capsule={capsule} onClose={close} /> : null}
      </Suspense>
    </>
  )
}

function ArchiveDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const archive = useMutation({
    mutationFn: () =>
      withKey(id, (header) =>
        bodyOf(api.POST('/api/capsules/{id}/archive', { params: { path: { id }, header }, parseAs: 'text' }))
      ),
    onSuccess: onClose,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['capsule', id] })
  })
  return (
    <ConfirmDialog title="Archive this capsule" action="Archive it" change={archive} onClose={onClose}>
      <p>
        This is final: its schedule ends, and it can no longer be published. Its team can still read, run and clone it.
      </p>
    </ConfirmDialog>
  )
}

function DeleteDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const remove = useMutation({
    mutationFn: () =>
      withKey(id, (header) => bodyOf(api.DELETE('/api/capsules/{id}', { params: { path: { id }, header } }))),
    onSuccess: async () => {
      onClose()
      await navigate({ to: '/capsules' })
      queryClient.removeQueries({ queryKey: ['capsule', id] })
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
    }
  })
  return (
    <ConfirmDialog title="Delete this capsule" action="Delete it" danger change={remove} onClose={onClose}>
      <p>This is final. Its jobs and its audit trail stay.</p>
    </ConfirmDialog>
  )
}
