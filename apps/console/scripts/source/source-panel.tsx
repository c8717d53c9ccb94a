// The source of a script: edited by its owner until it is published, read by everyone else.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useMemo } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { metaQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Notice, Refusal } from '../../components/notice.js'
import { TextBlock } from '../../components/text-block.js'
import { type Script, type ScriptWarning, scriptQuery, warningsKey } from '../script-queries.js'
import { Changed } from './changed.js'
import { type Drafting, fillNewScript } from './draft.js'
import { changeBody, isSame, placedFaults, placedWarnings, type ScriptForm, savedForm, typed } from './script-form.js'
import { SourceFields } from './source-fields.js'
import { Warnings } from './warnings.js'

export function SourcePanel({ script, drafting }: { script: Script; drafting: Drafting }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const { draft, setDraft, saved, drop } = drafting
  const { data: meta } = useQuery(metaQuery)
  const present = savedForm(script)
  const form = draft?.form ?? present
  const refusal = script.can.update === true ? null : script.can.update
  const warnings = queryClient.getQueryData<ScriptWarning[]>(warningsKey(script.id)) ?? none
  const atLines = useMemo(() => placedWarnings(warnings), [warnings])

  const save = useMutation({
    mutationFn: (sent: ScriptForm) => {
      const body = { id: script.id, ...changeBody(sent, draft?.base ?? present) }
      const { id, ...change } = body
      return withKey(body, (header) =>
        bodyOf(api.PATCH('/api/scripts/{id}', { params: { path: { id }, header }, body: change as never }))
      )
    },
    onSuccess: ({ validation_warnings: _, warnings: found, ...record }, sent) => {
      queryClient.setQueryData(warningsKey(script.id), found)
      queryClient.setQueryData(scriptQuery(script.id).queryKey, record)
      void queryClient.invalidateQueries({ queryKey: ['script', script.id, 'versions'] })
      saved(sent, savedForm(record))
    },
    // It may have been changed, published or deleted elsewhere.
    onError: () => void queryClient.invalidateQueries({ queryKey: ['script', script.id] })
  })
  const faults = useMemo(() => placedFaults(save.error), [save.error])
  const change = (changes: Partial<ScriptForm>) =>
    setDraft((known) => {
      const base = known?.base ?? present
      const next = typed({ ...(known?.form ?? present), ...changes }, base)
      return isSame(next, base) ? null : { form: next, base }
    })
  const copy = () => {
    fillNewScript(queryClient, { ...form, name: `Copy of ${form.name}`, framework: '', type: '' })
    void navigate({ to: '/scripts/new' })
  }
  const copyButton = <Button onPress={copy}>Copy into a new script</Button>

  if (refusal !== null && draft === null)
    return (
      <>
        <Notice>{refusal}</Notice>
        <TextBlock label="Program" text={script.script_content} />
        {script.requirements === null ? null : (
          <>
            <h2>Requirements</h2>
            <TextBlock label="Requirements" text={script.requirements} />
          </>
        )}
        <div className={layout.bar}>{copyButton}</div>
      </>
    )
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (draft && refusal === null) save.mutate(draft.form)
  }
  return (
    <form className={layout.panel} onSubmit={send}>
      {draft?.base && draft.base.updatedAt !== script.updated_at ? (
        <Changed draft={draft.form} base={draft.base} script={script} onForm={setDraft} onDrop={drop} />
      ) : null}
      <SourceFields operation="updateScript" form={form} onChange={change} faults={faults} warnings={atLines}>
        <Choice
          label="Framework"
          value={form.framework}
          options={(meta?.features.frameworks ?? [form.framework]).map((value) => ({ value, text: value }))}
          onChange={(framework) => change({ framework })}
        />
      </SourceFields>
      <Warnings warnings={warnings} />
      <Refusal error={faults.isElsewhere ? save.error : null} />
      <div className={layout.bar}>
        <Button kind="main" type="submit" why={refusal} isDisabled={draft === null || save.isPending}>
          Save
        </Button>
        {draft ? <Button onPress={drop}>Discard what is not saved</Button> : null}
        {copyButton}
        <span role="status" className={layout.quiet}>
          {save.isSuccess && draft === null ? `Saved as version ${script.version}.` : ''}
        </span>
      </div>
    </form>
  )
}

const none: ScriptWarning[] = []
