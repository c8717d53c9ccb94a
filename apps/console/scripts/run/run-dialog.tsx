// Runs the saved version of a script: its parameters, where it runs, and what an analysis finds before it is submitted.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { stringify } from 'lossless-json'
import { type FormEvent, useMemo, useState } from 'react'
import { ApiError } from '../../api/api-error.js'
import { api, bodyOf } from '../../api/client.js'
import { sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Notice } from '../../components/notice.js'
import { ChargedTeam } from '../../jobs/submit/charged-team.js'
import { Destinations, Standing } from '../../jobs/submit/destinations.js'
import { refusalsOf } from '../../jobs/submit/refusals.js'
import { RestOf } from '../../jobs/submit/rest-of-refusals.js'
import { AUTO, emptySettings, type JobSettings, settingsBody } from '../../jobs/submit/settings.js'
import { MoreFields, SettingsFields, WishFields } from '../../jobs/submit/settings-fields.js'
import { chosenOf, refusedThere, useDestinations } from '../../jobs/submit/use-destinations.js'
import { useParams } from '../../jobs/submit/use-params.js'
import { useTeam } from '../../shell/team.js'
import { numberOf } from '../../text/number-of.js'
import type { Script } from '../script-queries.js'
import { type Analysis, AnalysisChecks, consentsOf } from './analysis-checks.js'
import { ParameterField } from './parameter-field.js'
import { circuitsIn, faultIn, ownNames, paramsOf, runFields } from './parameters.js'

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
  const [settings, setSettings] = useState(emptySettings)
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  const [analysed, setAnalysed] = useState<Analysed | null>(null)
  const [consents, setConsents] = useState<ReadonlySet<string>>(new Set())
  const set = (name: keyof JobSettings) => (value: string) => setSettings((known) => ({ ...known, [name]: value }))

  const fields = useMemo(() => runFields(script.metadata), [script.metadata])
  const ofFields = useMemo(() => paramsOf(fields, texts), [fields, texts])
  const { params, fault } = useParams(settings.params, ofFields, ownNames(fields))
  const circuits = circuitsIn(params)
  const qubits = script.metadata.qubits ?? null
  const where = useDestinations({ ...settings, params, qubits, isAnalog: false }, teamParam)
  const { backend, destination } = chosenOf(where, settings.backend)
  const faults = fields.flatMap((field) => faultIn(field, texts.get(field.name) ?? '') ?? [])

  const subject = { backend, shots: numberOf(settings.shots), circuit_count: circuits, ...teamParam }
  const of = JSON.stringify([script.source_sha256, subject])
  const present = analysed?.of === of ? analysed.analysis : null

  /** @param analysis `null` where the service chooses the backend: an analysis is of one. */
  const submit = async (analysis: Analysis | null) => {
    const body = {
      ...settingsBody({ ...settings, backend }, params, teamParam),
      script_id: script.id,
      ...(analysis && { analysis_id: analysis.analysis_id, warn_check_ids: consentsOf(analysis, consents) })
    }
    const submitted = await withKey(body, (header) =>
      // What is not a number is refused by the service, so the body is wider than the document says.
      bodyOf(api.POST('/api/jobs/submit', { params: { header }, body: body as never, bodySerializer: textOf }))
    )
    return (submitted as { job_id: string }).job_id
  }
  const run = useMutation({
    mutationFn: async (): Promise<string | null> => {
      if (present || backend === AUTO) return submit(present)
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
  const refusals = refusalsOf([run.error, where.error], { params: fields.map(({ name }) => name) })
  const faultAt = (name: keyof JobSettings) => (name === 'params' ? fault : null) ?? refusals.at(name)
  const inputs = { settings: { ...settings, backend }, set, faultAt }
  const isMissing = present !== null && consentsOf(present, consents).length < warningsIn(present)
  const why =
    faults[0] ??
    (fault === null ? refusedThere(where, destination) : `Parameters: ${fault}`) ??
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
            refusal={refusals.atParam(field.name)}
          />
        ))}
        <SettingsFields {...inputs} />
      </div>
      <MoreFields {...inputs} />
      <Destinations where={where} chosen={backend} onChoose={set('backend')} />
      <WishFields {...inputs} />
      {backend === AUTO ? (
        <Notice>A run is analysed for one backend, so this one is submitted without an analysis.</Notice>
      ) : null}
      <ChargedTeam teamId={teamParam.team_id} />
      <Standing where={where} destination={destination} />
      {present ? <AnalysisChecks analysis={present} consents={consents} onConsents={setConsents} /> : null}
      <RestOf rest={refusals.rest} />
      <div className={layout.bar}>
        <Button kind="main" type="submit" why={why} isDisabled={run.isPending || backend === ''}>
          Run
        </Button>
        <Button onPress={onClose}>Close</Button>
      </div>
    </form>
  )
}

const warningsIn = ({ checks }: Analysis): number => checks.filter(({ level }) => level === 'warning').length

const textOf = (body: unknown): string => stringify(body) ?? ''
