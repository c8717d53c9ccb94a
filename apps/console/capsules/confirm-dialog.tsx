import type { ReactNode } from 'react'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { Modal } from '../components/modal.js'
import { Refusal } from '../components/notice.js'

/** Asks before a change that is final, and says what it makes final. */
export function ConfirmDialog(props: {
  title: string
  action: string
  danger?: boolean
  change: { mutate: () => void; isPending: boolean; error: unknown }
  onClose: () => void
  children: ReactNode
}) {
  const { title, action, danger, change, onClose, children } = props
  return (
    <Modal title={title} onClose={onClose}>
      {children}
      <Refusal error={change.error} />
      <div className={layout.bar}>
        <Button kind={danger ? 'danger' : 'main'} isDisabled={change.isPending} onPress={() => change.mutate()}>
          {action}
        </Button>
        <Button onPress={onClose}>Close</Button>
      </div>
    </Modal>
  )
}
