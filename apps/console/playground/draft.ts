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
}

const { program, shots, seed } = emptyForm
const emptyDraft: Draft = { program, language: 'auto', place: defaultPlace, shots, seed }

export function useDraft() {
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState<Draft>(() => ({
    ...(queryClient.getQueryData<Draft>(draftKey) ?? emptyDraft),
    ...sharedIn(location.hash)
  }))
  useEffect(() => void queryClient.setQueryData(draftKey, draft), [queryClient, draft])
  useEffect(() => {
    // A link that is opened in the tab of this page changes the fragment alone.
    const open = () => setDraft((known) => ({ ...known, ...sharedIn(location.hash) }))
    window.addEventListener('hashchange', open)
    return () => window.removeEventListener('hashchange', open)
  }, [])
  const change = (changes: Partial<Draft>): void => setDraft((known) => ({ ...known, ...changes }))
  return { draft, change }
}
