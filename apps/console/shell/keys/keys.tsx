// The keys that work on every page.
import { lazy, Suspense, useEffect, useState } from 'react'
import { Modal } from '../../components/modal.js'
import { loadPart } from '../load-part.js'
import styles from './keys.module.css'

const GoTo = lazy(() => loadPart(() => import('./go-to.js')).then(({ GoTo }) => ({ default: GoTo })))

const keys = [
  ['Ctrl-K', 'Go to a page, a backend, a team or a job'],
  ['Ctrl-Enter', 'Run the program of the playground'],
  ['?', 'Show these keys'],
  ['Escape', 'Close what is open'],
  ['Tab, Shift-Tab', 'To the next or the previous field or button'],
  ['Arrows', 'Within tabs and lists']
] as const

export function Keys() {
  const [open, setOpen] = useState<'go to' | 'keys' | null>(null)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        setOpen('go to')
      } else if (event.key === '?' && !isTyping(event.target)) setOpen('keys')
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
  const close = () => setOpen(null)
  if (open === 'go to')
    return (
      <Suspense>
        <GoTo onClose={close} />
      </Suspense>
    )
  if (open === 'keys')
    return (
      <Modal title="Keys" onClose={close}>
        <dl className={styles.keys}>
          {keys.map(([key, does]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </Modal>
    )
  return null
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
