// The script was changed elsewhere while someone typed here. Nothing of either is lost: the other change is saved, and what is
// typed stays until its author decides.
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Loading, Notice } from '../../components/notice.js'
import { Time } from '../../components/text.js'
import type { Script } from '../script-queries.js'
import type { Draft } from './draft.js'
import { isSame, rebased, type SavedForm, type ScriptForm, savedForm } from './script-form.js'

const SourceDiff = lazy(() => import('../versions/source-diff.js').then(({ SourceDiff }) => ({ default: SourceDiff })))

export function Changed(props: {
  draft: ScriptForm
  base: SavedForm
  script: Script
  onForm: (draft: Draft | null) => void
  onDrop: () => void
}) {
  const { draft, base, script, onForm, onDrop } = props
  const [isShown, setShown] = useState(false)
  const saved = savedForm(script)
  const keepMine = () => {
    const form = rebased(draft, base, saved)
    onForm(isSame(form, saved) ? null : { form, base: saved })
  }
  return (
    <Notice tone="warn">
      <p>
        This script was changed elsewhere while you typed: it has version {script.version} of{' '}
        <Time at={script.updated_at} />. What you typed is not saved yet.
      </p>
      <div className={layout.bar}>
        <Button onPress={keepMine}>Keep what I typed, on top of it</Button>
        <Button onPress={onDrop}>Take the saved script</Button>
        <Button onPress={() => setShown((known) => !known)}>{isShown ? 'Hide' : 'Show'} what differs</Button>
      </div>
      {isShown ? (
        <Suspense fallback={<Loading />}>
          <SourceDiff label="From the saved source to what you typed" before={saved.source} after={draft.source} />
        </Suspense>
      ) : null}
    </Notice>
  )
}
