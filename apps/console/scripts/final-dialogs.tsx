// Publishing and deleting a script: what each makes final stands in its dialog.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, bodyOf } from '../api/client.js'
import { useWriteKey } from '../api/write-key.js'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { Modal } from '../components/modal.js'
import { Refusal } from '../components/notice.js'
import { type Script, scriptQuery } from './script-queries.js'
import styles from './scripts.module.css'

interface Props {
  script: Script
  onClose: () => void
}

/** @param hasDraft whether something typed is not saved, and so not published. */
export function PublishDialog({ script, hasDraft, onClose }: Props & { hasDraft: boolean }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const publish = useMutation({
    mutationFn: () =>
      withKey(['publish', script.id, script.updated_at], (header) =>
        bodyOf(api.POST('/api/scripts/{id}/publish', { params: { path: { id: script.id }, header } }))
      ),
    onSuccess: (record) => {
      queryClient.setQueryData(scriptQuery(script.id).queryKey, record)
      onClose()
    },
    onError: () => void queryClient.invalidateQueries({ queryKey: ['script', script.id] })
  })
  return (
    <Modal title="Publish this script?" onClose={onClose}>
      <p>
        Version {script.version} becomes public. <strong>This is final:</strong>
      </p>
      <ul className={styles.checks}>
        <li>Everyone with an account can find, read and run it.</li>
        <li>It can be neither changed nor deleted afterwards. It disappears only with its team.</li>
        <li>Its name, description and requirements are public too; its earlier versions stay with the team.</li>
        {hasDraft ? (
          <li>What you typed and have not saved is not published, and cannot be saved in it later.</li>
        ) : null}
      </ul>
      <Refusal error={publish.error} />
      <Answers onClose={onClose}>
        <Button kind="danger" onPress={() => publish.mutate()} isDisabled={publish.isPending}>
          Publish for good
        </Button>
      </Answers>
    </Modal>
  )
}

export function DeleteDialog({ script, onClose }: Props) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const remove = useMutation({
    mutationFn: () =>
      withKey(['delete', script.id], (header) =>
        bodyOf(api.DELETE('/api/scripts/{id}', { params: { path: { id: script.id }, header } }))
      ),
    onSuccess: async () => {
      onClose()
      await navigate({ to: '/scripts', replace: true })
      queryClient.removeQueries({ queryKey: ['script', script.id] })
    },
    onError: () => void queryClient.invalidateQueries({ queryKey: ['script', script.id] })
  })
  return (
    <Modal title="Delete this script?" onClose={onClose}>
      <p>
        <strong>This is final:</strong> the script and its {script.version} version{script.version === 1 ? '' : 's'} are
        deleted. Jobs that ran it stay, and can be run again.
      </p>
      <Refusal error={remove.error} />
      <Answers onClose={onClose}>
        <Button kind="danger" onPress={() => remove.mutate()} isDisabled={remove.isPending}>
          Delete for good
        </Button>
      </Answers>
    </Modal>
  )
}

const Answers = ({ onClose, children }: { onClose: () => void; children: ReactNode }) => (
  <div className={layout.bar}>
    {children}
    <Button onPress={onClose}>Cancel</Button>
  </div>
)
