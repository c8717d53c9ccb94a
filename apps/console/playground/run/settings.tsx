import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { backendsQuery, metaQuery } from '../../api/queries.js'
import { Choice, Field } from '../../components/fields.js'
import type { Draft } from '../draft.js'
import styles from '../playground.module.css'
import { placeOptions } from './places.js'
import type { FieldFault } from './use-run.js'

export function Settings(props: {
  draft: Draft
  change: (changes: Partial<Draft>) => void
  isVisitor: boolean
  isOnServer: boolean
  /** What the last run says of one of these fields. */
  fault: FieldFault | null
}) {
  const { draft, change, isVisitor, isOnServer, fault } = props
  const meta = useQuery(metaQuery)
  const { data: catalogue } = useQuery(backendsQuery)
  const faultAt = (field: FieldFault['field']) => (fault?.field === field ? fault.text : null)
  const place = useRef<HTMLDivElement>(null)
  // It stands beside a field, which the focus then reads out with it.
  useEffect(() => {
    if (fault) place.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [fault])
  return (
    <div ref={place} className={styles.settings}>
      <Choice
        label="Language"
        value={draft.language}
        options={[
          { value: 'auto', text: 'Detect it' },
          ...(meta.data?.features.frameworks ?? []).map((value) => ({ value, text: value }))
        ]}
        onChange={(language) => change({ language })}
      />
      <Choice
        label="Runs on"
        value={draft.place}
        options={placeOptions(catalogue?.backends ?? [], isVisitor)}
        onChange={(place) => change({ place })}
      />
      <Field
        label="Shots"
        inputMode="numeric"
        value={draft.shots}
        onChange={(shots) => change({ shots })}
        fault={faultAt('shots')}
      />
      <Field
        label="Seed (optional)"
        inputMode="numeric"
        value={draft.seed}
        onChange={(seed) => change({ seed })}
        isDisabled={isOnServer}
        fault={faultAt('seed')}
        help={isOnServer ? 'For jobs and for runs in this browser: a run on the server draws its own.' : undefined}
      />
    </div>
  )
}
