// A capsule from a file: YAML, or a package of either kind. What could not be kept stays on the page until it was read.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Button as AriaButton, DropZone, type FileDropItem, FileTrigger } from 'react-aria-components'
import { sessionQuery } from '../../api/queries.js'
import { randomKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import controls from '../../components/controls.module.css'
import { Modal } from '../../components/modal.js'
import { Notice, Refusal } from '../../components/notice.js'
import { useTeam } from '../../shell/team.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import own from '../capsules.module.css'
import { sendFile } from './send-file.js'

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const { team, teamParam } = useTeam()
  const queryClient = useQueryClient()
  const [progress, setProgress] = useState(0)
  const [file, setFile] = useState<File | null>(null)
  // Of one file: a repetition after a lost connection makes no second capsule.
  const key = useRef({ file, key: '' })
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    leaving.current = controller
    return () => controller.abort()
  }, [])
  const send = useMutation({
    mutationFn: (chosen: File) => {
      if (key.current.file !== chosen) key.current = { file: chosen, key: randomKey() }
      return sendFile(chosen, {
        team: teamParam,
        key: key.current.key,
        signal: leaving.current.signal,
        onProgress: setProgress
      })
    },
    onSuccess: async () => {
      key.current = { file: null, key: '' }
      if (!team) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
    }
  })
  const take = (chosen: File | undefined) => {
    if (!chosen || send.isPending) return
    setFile(chosen)
    setProgress(0)
    send.mutate(chosen)
  }
  const drop = async (items: readonly { kind: string }[]) => {
    const dropped = items.find((item): item is FileDropItem => item.kind === 'file')
    take(await dropped?.getFile())
  }
  return (
    <Modal title="A capsule from a file" onClose={onClose}>
      <p>
        YAML with the tasks, or a package of a capsule: a <code>.capsule</code> or an RO-Crate, at most 64 MiB. It
        becomes a draft of yours: its results stay in the file, because here they would look verified.
      </p>
      <DropZone className={own.drop!} aria-label="Drop a file here" onDrop={({ items }) => void drop(items)}>
        <FileTrigger onSelect={(files) => take(files?.[0])}>
          <AriaButton className={controls.button!}>Choose a file</AriaButton>
        </FileTrigger>
        <p>or drop it here</p>
      </DropZone>
      {file ? (
        <p>
          <span>{file.name}</span> ({groupedDigits(file.size)} bytes)
        </p>
      ) : null}
      {send.isPending ? (
        <progress value={progress} max={1} aria-label="Sent">
          {Math.round(100 * progress)} %
        </progress>
      ) : null}
      <Refusal error={send.error} />
      {send.error && file ? <Button onPress={() => take(file)}>Send it again</Button> : null}
      {send.data ? <Done made={send.data} /> : null}
      <Button onPress={onClose}>Close</Button>
    </Modal>
  )
}

const Done = ({ made: { capsule_id: id, warnings } }: { made: { capsule_id: string; warnings: string[] } }) => (
  <>
    <Notice tone="ok">
      The draft is there:{' '}
      <Link to="/capsules/$id" params={{ id }}>
        open it
      </Link>
    </Notice>
    {warnings.length > 0 ? (
      <Notice tone="warn">
        Not everything could be kept:
        <ul>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      </Notice>
    ) : null}
  </>
)
