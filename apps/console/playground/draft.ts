// What is typed on the page. It stays while its author visits other pages of the console or loads the page again, and is gone
// after signing out.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { emptyForm } from '../jobs/submit/submission.js'
import { draftKey } from './draft-key.js'
import { sharedIn } from './link.js'
import type { Language } from './program/language.js'
import { defaultPlace } from './run/places.js'

export interface Draft {
  program: string
  language: Language
  /** A value of the choice of places. */
  place: string
  shots: string
  seed: string
  /** The fragment of the address that it was read from or written to. What was changed since then is newer. */
  link: string
}

const { program, shots, seed } = emptyForm
const emptyDraft: Draft = { program, language: 'auto', place: defaultPlace, shots, seed, link: '' }

export function useDraft() {
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState<Draft>(() =>
    withLink({ ...emptyDraft, ...queryClient.getQueryData<Draft>(draftKey) }, location.hash)
  )
  useEffect(() => void queryClient.setQueryData(draftKey, draft), [queryClient, draft])
  useEffect(() => {
    // A link that is opened in the tab of this page changes the fragment alone.
    const open = () => setDraft((known) => withLink(known, location.hash))
    window.addEventListener('hashchange', open)
    return () => window.removeEventListener('hashchange', open)
  }, [])
  const change = (changes: Partial<Draft>): void => setDraft((known) => ({ ...known, ...changes }))
  return { draft, change }
}

/** A link that is opened replaces the draft; one that the draft came from does not, when the page is loaded again. */
function withLink(draft: Draft, fragment: string): Draft {
  const shared = fragment === draft.link ? null : sharedIn(fragment)
  return shared === null ? draft : { ...draft, ...shared, link: fragment }
}
