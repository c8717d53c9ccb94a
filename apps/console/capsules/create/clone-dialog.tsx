// A draft with the definition of another capsule, in a team of the caller.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { fieldFault } from '../../api/field-fault.js'
import { sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { Modal } from '../../components/modal.js'
import { Refusal } from '../../components/notice.js'

/** @param capsule with the team that the clone is first offered to, `null` for the personal one. */
export function CloneDialog(props: {
  capsule: { id: string; name: string; teamId: string | null }
  onClose: () => void
}) {
  const { capsule, onClose } = props
  const { data: session } = useQuery(sessionQuery)
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const [name, setName] = useState(capsule.name)
  const [team, setTeam] = useState(capsule.teamId ?? '')
  const teams = session?.teams ?? []
  const clone = useMutation({
    mutationFn: () => {
      const body = { ...(name.trim() !== '' && { name }), ...(team !== '' && { team_id: team }) }
      return withKey([capsule.id, body], (header) =>
        bodyOf(api.POST('/api/capsules/{id}/clone', { params: { path: { id: capsule.id }, header }, body }))
      )
    },
    onSuccess: async ({ capsule_id: id }) => {
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
      onClose()
      await navigate({ to: '/capsules/$id', params: { id }, search: team === '' ? {} : { team } })
    }
  })
  const fault = fieldFault(clone.error, ['name'])
  const send = (event: FormEvent) => {
    event.preventDefault()
    clone.mutate()
  }
  return (
    <Modal title="Clone this capsule" onClose={onClose}>
      <form className={layout.panel} onSubmit={send}>
        <p>The clone is a draft with the same tasks. It has none of the results, no seal and no schedule.</p>
        <LimitedField
          label="Name of the clone"
          value={name}
          onChange={setName}
          limits={limitsOf('cloneCapsule', 'name')}
          fault={fault?.text ?? null}
        />
        <Choice
          label="Team"
          value={team}
          options={[
            { value: '', text: 'My personal team' },
            ...teams.map((known) => ({ value: known.id, text: known.name }))
          ]}
          onChange={setTeam}
        />
        {fault ? null : <Refusal error={clone.error} />}
        <div className={layout.bar}>
          <Button kind="main" type="submit" isDisabled={clone.isPending}>
            Clone
          </Button>
          <Button onPress={onClose}>Close</Button>
        </div>
      </form>
    </Modal>
  )
}
