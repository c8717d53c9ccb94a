// A value that the service shows once. It is in this dialog while it is open, and nowhere else.
import { useState } from 'react'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Notice } from '../../components/notice.js'
import styles from './parts.module.css'

/** @param value `null`: the answer to the first try was lost, and a repeated request shows no value. */
export function ShownOnce(props: { title: string; value: string | null; lost: string; onClose: () => void }) {
  const { title, value, lost, onClose } = props
  return (
    <Modal title={title} onClose={onClose}>
      {value === null ? (
        <Notice tone="warn">{lost}</Notice>
      ) : (
        <>
          <p>This is shown once. Copy it now: it cannot be read again, neither here nor in the service.</p>
          <code className={styles.secret}>{value}</code>
          <Copy value={value} />
        </>
      )}
      <div className={layout.bar}>
        <Button kind="main" onPress={onClose}>
          Close
        </Button>
      </div>
    </Modal>
  )
}

/** Browsers hide the clipboard on http beyond the own machine. */
function Copy({ value }: { value: string }) {
  const [done, setDone] = useState<string | null>(null)
  const copy = () =>
    navigator.clipboard.writeText(value).then(
      () => setDone('Copied'),
      () => setDone('The browser did not allow it; select the text instead')
    )
  if (!navigator.clipboard) return <p className={layout.quiet}>Select the text to copy it.</p>
  return (
    <div className={layout.bar}>
      <Button onPress={() => void copy()}>Copy</Button>
      <span role="status">{done}</span>
    </div>
  )
}
