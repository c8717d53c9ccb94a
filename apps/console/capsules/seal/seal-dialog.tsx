// The last look before a seal: what will be signed, the margin and the shots that it takes, and the exit code.
import { useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useMemo, useState } from 'react'
import { localProviders } from '../../../../domain/verification/run-counts.js'
import { api, bodyOf } from '../../api/client.js'
import { fieldFault } from '../../api/field-fault.js'
import { backendsQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { Modal } from '../../components/modal.js'
import { Notice, Refusal } from '../../components/notice.js'
import own from '../capsules.module.css'
import type { ReadCapsule } from '../record/capsule-record.js'
import { resultTextQuery } from '../verification/report-queries.js'
import { plannedSeal } from './planned-seal.js'
import { type SealForm, sealBody } from './seal-form.js'
import { resultsToSealQuery } from './sealed-results.js'

export function SealDialog({ capsule, onClose }: { capsule: ReadCapsule; onClose: () => void }) {
  const { record, tasks } = capsule
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const [form, setForm] = useState<SealForm>({ exitCode: '0', exitMessage: '', margin: '' })
  const set = (name: keyof SealForm) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  const seal = useMutation({
    mutationFn: () => {
      const body = sealBody(form)
      return withKey([record.id, body], (header) =>
        bodyOf(
          api.POST('/api/capsules/{id}/seal', { params: { path: { id: record.id }, header }, body, parseAs: 'text' })
        )
      )
    },
    onSuccess: onClose,
    onSettled: async () => {
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
      await queryClient.invalidateQueries({ queryKey: ['capsule', record.id] })
    }
  })
  const fault = fieldFault(seal.error, ['exit_code', 'exit_message', 'margin'])
  const faultAt = (field: string) => (fault?.field === field ? fault.text : null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    seal.mutate()
  }
  return (
    <Modal title="Seal this capsule" onClose={onClose}>
      <form className={layout.panel} onSubmit={send}>
        <p>
          This is final. The service signs the digests of the definition, of{' '}
          {tasks.length === 1 ? 'its task' : 'its tasks'} and of all evidence. The content never changes again, and the
          capsule can never be deleted.
        </p>
        <p>
          Definition: <span className={own.digest}>{record.definition_sha256}</span>
        </p>
        {record.evidence.artifacts.length > 0 ? (
          <details>
            <summary>{record.evidence.artifacts.length} files of evidence</summary>
            <ul>
              {record.evidence.artifacts.map(({ name, sha256 }) => (
                <li key={name}>
                  {name} <span className={own.digest}>{sha256}</span>
                </li>
              ))}
            </ul>
          </details>
        ) : (
          <p>The evidence is taken from the newest completed run of the present definition.</p>
        )}
        <div className={layout.filters}>
          <LimitedField
            label="Exit code"
            limits={limitsOf('sealCapsule', 'exit_code')}
            inputMode="numeric"
            value={form.exitCode}
            onChange={set('exitCode')}
            fault={faultAt('exit_code')}
            help="0: the results are as expected"
          />
          <LimitedField
            label="Margin (optional)"
            limits={limitsOf('sealCapsule', 'margin')}
            inputMode="decimal"
            value={form.margin}
            onChange={set('margin')}
            fault={faultAt('margin')}
            help="The distance that a verification tolerates"
          />
        </div>
        <LimitedField
          label="Exit message (optional)"
          limits={limitsOf('sealCapsule', 'exit_message')}
          value={form.exitMessage}
          onChange={set('exitMessage')}
          fault={faultAt('exit_message')}
        />
        <Margin capsule={capsule} declared={form.margin.trim() === '' ? null : Number(form.margin)} />
        {fault ? null : <Refusal error={seal.error} />}
        <div className={layout.bar}>
          <Button kind="main" type="submit" isDisabled={seal.isPending}>
            Seal
          </Button>
          <Button onPress={onClose}>Close</Button>
        </div>
      </form>
    </Modal>
  )
}

/** Few enough that a margin is computed within a frame. */
const CHARACTERS_MAX = 256 * 1024

function Margin({ capsule, declared }: { capsule: ReadCapsule; declared: number | null }) {
  const { data: catalogue } = useQuery(backendsQuery)
  const found = useQuery(resultsToSealQuery(capsule))
  const results = found.data ?? []
  const texts = useQueries({
    queries: results.map(({ url }) => resultTextQuery(url)),
    combine: (queries) =>
      queries.every(({ data }) => data !== undefined) ? queries.map(({ data }) => data ?? null) : null
  })
  const isMargin = declared === null || (declared > 0 && declared <= 1)
  const planned = useMemo(() => {
    if (!texts || !catalogue || !isMargin || texts.length === 0) return null
    const read = texts.flatMap((text, at) => {
      const { task, backend } = results[at]!
      const { deviceType, provider = '' } = catalogue.backends.find(({ slug }) => slug === backend) ?? {}
      const facts = { hardware: deviceType === 'qpu', local: localProviders.has(provider) }
      return text === null || text.length > CHARACTERS_MAX ? [] : [{ task, text, ...facts }]
    })
    return read.length === texts.length ? plannedSeal(read, declared) : null
  }, [texts, catalogue, results, declared, isMargin])
  if (planned === null)
    return (
      <p>
        Left out, the margin is the larger of 0.05 (on hardware 0.10) and the smallest that the sealed shots can
        resolve. After the seal, the page shows it with its warnings.
      </p>
    )
  return (
    <>
      <p role="status">
        A verification will tolerate a distance of {planned.margin}
        {declared === null ? ', the default for these results' : ''}.
      </p>
      {planned.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
    </>
  )
}
