// A new script: typed here, or copied from another.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useMemo } from 'react'
import { api, bodyOf } from '../api/client.js'
import { sessionQuery } from '../api/queries.js'
import { useWriteKey } from '../api/write-key.js'
import { Button } from '../components/button.js'
import { Choice } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { Refusal } from '../components/notice.js'
import { usePageTitle } from '../shell/page-title.js'
import { useTeam } from '../shell/team.js'
import { type Script, warningsKey } from './script-queries.js'
import { useScriptDraft } from './source/draft.js'
import { emptyForm, isSame, placedFaults, type ScriptForm } from './source/script-form.js'
import { SourceFields } from './source/source-fields.js'

const noWarnings: [] = []

type ScriptType = Script['script_type']
const types = [
  { value: '', text: 'Detect it' },
  ...(['script', 'task', 'workflow'] as const satisfies readonly ScriptType[]).map((value) => ({ value, text: value }))
]

export function NewScriptPage() {
  usePageTitle('New script')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const { team, teamParam } = useTeam()
  const { draft, setDraft, drop } = useScriptDraft('new')
  const form = draft?.form ?? emptyForm
  const save = useMutation({
    mutationFn: ({ name, description, source, requirements, type }: ScriptForm) => {
      const more = { ...(requirements && { requirements }), ...(type && { script_type: type as ScriptType }) }
      const body = { name, description, script_content: source, ...more, ...teamParam }
      return withKey(body, (header) => bodyOf(api.POST('/api/scripts/upload', { params: { header }, body })))
    },
    onSuccess: async ({ script_id: id, warnings }) => {
      queryClient.setQueryData(warningsKey(id), warnings)
      // The first write of a user without a team makes their team.
      if (!team) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      drop()
      await navigate({ to: '/scripts/$id', params: { id } })
    }
  })
  const faults = useMemo(() => placedFaults(save.error), [save.error])
  const change = (changes: Partial<ScriptForm>) =>
    setDraft((known) => {
      const next = { ...(known?.form ?? emptyForm), ...changes }
      return isSame(next, emptyForm) ? null : { form: next, base: null }
    })
  const send = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(form)
  }
  return (
    <form className={layout.panel} onSubmit={send}>
      <h1>New script{team ? ` of ${team.name}` : ''}</h1>
      <SourceFields operation="uploadScript" form={form} onChange={change} faults={faults} warnings={noWarnings}>
        <Choice label="Type" value={form.type} options={types} onChange={(type) => change({ type })} />
      </SourceFields>
      <Refusal error={faults.isElsewhere ? save.error : null} />
      <div className={layout.bar}>
        <Button kind="main" type="submit" isDisabled={save.isPending}>
          Save
        </Button>
        {draft ? <Button onPress={drop}>Discard what is not saved</Button> : null}
      </div>
    </form>
  )
}
