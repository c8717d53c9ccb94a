import type { ReactNode } from 'react'
import { useState } from 'react'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Refusal } from '../../components/notice.js'
import { useAction } from './use-action.js'

/** A button that says what is final before it does it. */
export function ConfirmButton(props: {
  text: string
  title: string
  why: string | null
  children: ReactNode
  /** The dialog closes when it succeeds, and shows the refusal else. */
  act: () => Promise<unknown>
  /** After a refusal, which shows that the page may be out of date. */
  onRefused?: () => unknown
}) {
  const [open, setOpen] = useState(false)
  const action = useAction()
  const close = () => {
    action.clear()
    setOpen(false)
  }
  const confirm = async () => {
    if (await action.run(props.act)) setOpen(false)
    else props.onRefused?.()
  }
  return (
    <>
      <Button kind="danger" why={props.why} onPress={() => setOpen(true)}>
        {props.text}
      </Button>
      {open ? (
        <Modal title={props.title} onClose={close}>
          {props.children}
          <Refusal error={action.error} />
          <div className={layout.bar}>
            <Button kind="danger" isDisabled={action.pending} onPress={() => void confirm()}>
              {props.text}
            </Button>
            <Button onPress={close}>Keep it</Button>
          </div>
        </Modal>
      ) : null}
    </>
  )
}
