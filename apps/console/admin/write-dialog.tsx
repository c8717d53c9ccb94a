// A button that opens a dialog, in which the action is described and sent.
import { type ReactNode, useState } from 'react'
import { Button } from '../components/button.js'
import { Modal } from '../components/modal.js'
import { type FormField, type KeyHeader, WriteForm } from './write-form.js'

export function WriteDialog<Name extends string>(props: {
  /** Of the button that opens it; also the dialog's title unless one is given. */
  action: string
  title?: string
  kind?: 'danger'
  why?: string | null
  fields: readonly FormField<Name>[]
  send: (values: Record<Name, string>, header: KeyHeader) => Promise<unknown>
  onDone: () => unknown
  /** What the action does and what it cannot take back. */
  children: ReactNode
}) {
  const [open, setOpen] = useState(false)
  const { action, title = action, kind, why = null, fields, send, onDone, children } = props
  const look = kind === undefined ? {} : { kind }
  const close = () => setOpen(false)
  return (
    <>
      <Button {...look} why={why} onPress={() => setOpen(true)}>
        {action}
      </Button>
      {open ? (
        <Modal title={title} onClose={close}>
          <div>{children}</div>
          <WriteForm
            {...look}
            fields={fields}
            button={action}
            send={send}
            onDone={() => {
              close()
              return onDone()
            }}
            onCancel={close}
          />
        </Modal>
      ) : null}
    </>
  )
}
