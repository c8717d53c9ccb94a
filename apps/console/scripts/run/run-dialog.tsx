// Runs the saved version of a script: its parameters, where it runs, and what an analysis finds before it is submitted.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { stringify } from 'lossless-json'
import { type FormEvent, useMemo, useState } from 'react'
import { ApiError } from '../../api/api-error.js'
import { api, bodyOf } from '../../api/client.js'
import { metaQuery, sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Notice, Refusal } from '../../components/notice.js'
import { Destinations, reasonOf, Standing, useDestinations } from '../../jobs/submit/destinations.js'
import { SettingsFields } from '../../jobs/submit/settings-fields.js'
import { faultOf } from '../../jobs/submit/submission.js'
import { useTeam } from '../../shell/team.js'
import { numberOf } from '../../text/number-of.js'
import type { Script } from '../script-queries.js'
import { type Analysis, AnalysisChecks, consentsOf } from './analysis-checks.js'
import { ParameterField } from './parameter-field.js'
import { circuitsIn, faultIn, paramsOf, runFields } from './parameters.js'
import { emptySettings, type RunSettings, runBody } from './run-body.js'

interface Analysed {
  /** What was analysed, as text: another form needs another analysis. */
  of: string
  analysis: Analysis
}

export function RunDialog(props: { script: Script; hasDraft: boolean; onClose: () => void }) {
  return (
    <Modal title="Run this script" onClose={props.onClose}>
      <Form {...props} />
    </Modal>
  )
}

function Form({ script, hasDraft, onClose }: { script: Script; hasDraft: boolean; onClose: () => void }) {
  const { team, teamParam } = useTeam()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [withAnalysisKey, withKey] = [useWriteKey(), useWriteKey()]
  const meta = useQuery(metaQuery)
  const [settings, setSettings] = useState(emptySettings)
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  const [analysed, setAnalysed] = useState<Analysed | null>(null)
  const [consents, setConsents] = useState<ReadonlySet<string>>(new Set())
  const set = (name: keyof RunSettings) => (value: string) => setSettings((known) => ({ ...known, [name]: value }))

  const fields = runFields(script.metadata)
  const params = paramsOf(fields, texts)
  const circuits = circuitsIn(params)
  const priced = useMemo(() => ({ circuit_count: circuits }), [circuits])
  const where = useDestinations(settings.shots, priced, teamParam)
  const destinations = where.data?.destinations ?? []
  const first = destinations.find(({ available }) => available) ?? destinations[0]
  const backend = settings.backend || first?.backend || ''
  const chosen = destinations.find((one) => one.backend === backend)
  const faults = fields.flatMap((field) => faultIn(field, texts.get(field.name) ?? '') ?? [])

  const subject = { backend, shots: numberOf(settings.shots), circuit_count: circuits, ...teamParam }
  const of = JSON.stringify([script.source_sha256, subject])
  const present = analysed?.of === of ? analysed.analysis : null

  const submit = async (analysis: Analysis) => {
    const body = {
      ...runBody({ ...settings, backend }, params, teamParam),
      script_id: script.id,
      analysis_id: analysis.analysis_id,
      warn_check_ids: consentsOf(analysis, consents)
    }
    const submitted = await withKey(body, (header) =>
      // What is not a number is refused by the service, so the body is wider than the document says.
      bodyOf(api.POST('/api/jobs/submit', { params: { header }, body: body as never, bodySerializer: textOf }))
    )
    return (submitted as { job_id: string }).job_id
  }
  const run = useMutation({
    mutationFn: async (): Promise<string | null> => {
      if (present) return submit(present)
      const body = { content: script.script_content, content_hash: script.source_sha256, ...subject }
      const analysis = await withAnalysisKey([script.id, body], (header) =>
        bodyOf(
          api.POST('/api/scripts/{id}/analyse', { params: { path: { id: script.id }, header }, body: body as never })
        )
      )
      setAnalysed({ of, analysis })
      setConsents(new Set())
      const isClear = analysis.can_run && analysis.checks.every(({ level }) => level !== 'warning')
      return isClear ? submit(analysis) : null
    },
    onSuccess: async (id) => {
      if (id === null) return
      // The first write of a user without a team makes their team.
      if (!team) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: ['script', script.id] })
      onClose()
      await navigate({ to: '/jobs/$id', params: { id } })
    },
    onError: (error) => {
      if (!(error instanceof ApiError) || error.status !== 409) return
      // The script or a price has changed since.
      setAnalysed(null)
      void queryClient.invalidateQueries({ queryKey: ['script', script.id] })
    }
  })
  const fault = run.error instanceof ApiError && run.error.status === 400 ? faultOf(run.error.message) : null
  const faultAt = (name: keyof RunSettings) => (fault?.field === name ? fault.text : null)
  const isMissing = present !== null && consentsOf(present, consents).length < warningsIn(present)
  const why =
    faults[0] ??
    (chosen && !chosen.available ? reasonOf(chosen) : null) ??
    (present && !present.can_run ? 'The analysis found what prevents the run.' : null) ??
    (isMissing ? 'Each warning needs your consent.' : null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (why === null) run.mutate()
  }
  return (
    <form className={layout.panel} onSubmit={send}>
      {hasDraft ? (
        <Notice tone="warn">Version {script.version} runs, as it is saved; what you typed since is not in it.</Notice>
      ) : null}
      <div className={layout.filters}>
        {fields.map((field) => (
          <ParameterField
            key={field.name}
            field={field}
            text={texts.get(field.name) ?? ''}
            onChange={(text) => setTexts((known) => new Map([...known, [field.name, text]]))}
          />
        ))}
        <SettingsFields
          settings={settings}
          set={set}
          faultAt={faultAt}
          modes={meta.data?.features.execution_modes ?? []}
        />
      </div>
      <Destinations destinations={destinations} chosen={backend} onChoose={set('backend')} />
      <Refusal error={where.error} />
      {where.data ? <Standing destination={chosen} budget={where.data.budget} /> : null}
      {present ? <AnalysisChecks analysis={present} consents={consents} onConsents={setConsents} /> : null}
      <Refusal error={fault && fault.field in settings && fault.field !== 'backend' ? null : run.error} />
      <div className={layout.bar}>
        <Button kind="main" type="submit" why={why} isDisabled={run.isPending}>
          Run
        </Button>
        <Button onPress={onClose}>Close</Button>
      </div>
    </form>
  )
}

const warningsIn = ({ checks }: Analysis): number => checks.filter(({ level }) => level === 'warning').length

const textOf = (body: unknown): string => stringify(body) ?? ''
