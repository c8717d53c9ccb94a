import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { backendsQuery } from '../../api/queries.js'
import { Button } from '../../components/button.js'
import { SubmitDialog } from '../../jobs/submit/submit-dialog.js'
import { fillNewScript } from '../../scripts/source/draft.js'
import { emptyForm } from '../../scripts/source/script-form.js'
import type { Draft } from '../draft.js'
import styles from '../playground.module.css'
import { Share } from '../share.js'
import { freeSimulators } from './places.js'

export function Actions(props: {
  draft: Draft
  /** `null` for a program that does not run as it is at the chosen place. */
  run: (() => void) | null
  /** Why it cannot run there. */
  refusal: string | null
  runAt: (backend: string) => void
  /** `null` where the framework of a Python program is not known. */
  convertAndRun: (() => void) | null
  isPythonHere: boolean
  /** Of the reader for this browser: the server can take the program all the same. */
  hasFaults: boolean
  isVisitor: boolean
  /** A link to the draft was made, and stands in the address. */
  onLink: (fragment: string) => void
}) {
  const { onLink, draft, run, refusal, runAt, convertAndRun, isPythonHere, hasFaults, isVisitor } = props
  const { data: catalogue } = useQuery(backendsQuery)
  const [isSubmitting, setSubmitting] = useState(false)
  const server = freeSimulators(catalogue?.backends ?? []).find(({ isAvailable }) => isAvailable)
  const signIn = isVisitor ? 'Sign in first.' : null
  const { program, language, shots, seed } = draft
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const saveAsScript = () => {
    fillNewScript(queryClient, { ...emptyForm, source: program })
    void navigate({ to: '/scripts/new' })
  }
  return (
    <>
      {isPythonHere ? (
        <p>A browser does not run Python. The server can run the program, or convert its circuit for a run here.</p>
      ) : null}
      <div className={styles.bar}>
        {run ? (
          <Button kind="main" onPress={run} isDisabled={refusal !== null}>
            Run
          </Button>
        ) : null}
        {isPythonHere || hasFaults || refusal !== null ? (
          <Button
            kind={isPythonHere ? 'main' : undefined}
            why={signIn ?? (server ? null : 'No free simulator of the server is available.')}
            onPress={() => server && runAt(server.slug)}
          >
            Run on the server
          </Button>
        ) : null}
        {isPythonHere ? (
          <Button
            why={signIn ?? (convertAndRun ? null : 'Choose the language first.')}
            onPress={() => convertAndRun?.()}
          >
            Convert and run here
          </Button>
        ) : null}
        {isVisitor ? null : <Button onPress={() => setSubmitting(true)}>Submit as a job</Button>}
        {isVisitor ? null : <Button onPress={saveAsScript}>Save as a script</Button>}
        <Share shared={{ program, shots, seed }} onMade={onLink} />
        {isVisitor ? (
          <Link to="/sign-in" search={{ return_to: '/run' }}>
            Sign in to run on the server or to submit a job
          </Link>
        ) : null}
      </div>
      {isSubmitting ? (
        <SubmitDialog
          filled={{ program, shots, seed, framework: language === 'auto' ? '' : language }}
          onClose={() => setSubmitting(false)}
        />
      ) : null}
    </>
  )
}
