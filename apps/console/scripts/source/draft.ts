// What is typed and not yet saved. It stays while its author visits other pages of the console, and is gone after signing out;
// a browser that leaves the console asks first.
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { SavedForm, ScriptForm } from './script-form.js'

export interface Draft {
  form: ScriptForm
  /** What the script was when its author began; `null` for a new script. */
  base: SavedForm | null
}

const keyOf = (id: string) => ['script draft', id] as const

const REPLACE = 'The page of a new script holds text that is not saved. Replace it?'

/** Fills the page of a new script; text that is on it is replaced after a question. */
export function fillNewScript(queryClient: QueryClient, form: ScriptForm): void {
  const isFree = queryClient.getQueryData(keyOf('new')) === undefined
  if (isFree || window.confirm(REPLACE)) keep(queryClient, 'new', { form, base: null })
}

function keep(queryClient: QueryClient, id: string, draft: Draft | null): void {
  queryClient.setQueryDefaults(['script draft'], { gcTime: Number.POSITIVE_INFINITY })
  if (draft === null) queryClient.removeQueries({ queryKey: keyOf(id) })
  else queryClient.setQueryData(keyOf(id), draft)
}

export type Drafting = ReturnType<typeof useScriptDraft>

/** @param id of the script, or `new`. `null`: nothing was typed. */
export function useScriptDraft(id: string) {
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState<Draft | null>(() => queryClient.getQueryData<Draft>(keyOf(id)) ?? null)
  const latest = useRef(draft)
  latest.current = draft
  useEffect(() => () => keep(queryClient, id, latest.current), [queryClient, id])
  const isDirty = draft !== null
  useEffect(() => {
    if (!isDirty) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [isDirty])
  /** What was typed while a save was under way stays. */
  const saved = useCallback((sent: ScriptForm, base: SavedForm) => {
    setDraft((known) => (known === null || known.form === sent ? null : { form: known.form, base }))
  }, [])
  const drop = useCallback(() => {
    latest.current = null
    setDraft(null)
  }, [])
  return { draft, setDraft, saved, drop }
}
