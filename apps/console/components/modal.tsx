import type { ReactNode } from 'react'
import { Modal as AriaModal, Dialog, Heading, ModalOverlay } from 'react-aria-components'
import styles from './modal.module.css'

/** A window above the page. Without `onClose` it stays until what it asks for is done. */
export function Modal({ title, onClose, children }: { title: string; onClose?: () => void; children: ReactNode }) {
  return (
    <ModalOverlay
      className={styles.overlay!}
      isOpen
      isDismissable={false}
      isKeyboardDismissDisabled={onClose === undefined}
      onOpenChange={(open) => (open ? undefined : onClose?.())}
    >
      <AriaModal className={styles.modal!}>
        <Dialog className={styles.dialog!}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </Dialog>
      </AriaModal>
    </ModalOverlay>
  )
}
