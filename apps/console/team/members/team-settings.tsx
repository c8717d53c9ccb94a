// The team's name, and its ends: leaving it, and deleting it with what stands in the way.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { shownText } from '../../text/shown-text.js'
import { ActionForm } from '../parts/action-form.js'
import { ConfirmButton } from '../parts/confirm.js'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { type Member, readTeamAgain, type TeamRecord } from '../team-queries.js'

export function TeamSettings({ team, members }: { team: TeamRecord; members: Member[] }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [leaveKey, deleteKey] = [useWriteKey(), useWriteKey()]
  const path = { id: team.id }
  const again = () => readTeamAgain(queryClient)
  const gone = async () => {
    // Before the session names the other teams: the address names this one.
    await navigate({ to: '/jobs', search: { team: undefined } })
    queryClient.removeQueries({ queryKey: ['team', team.id] })
    await again()
  }
  const leave = async () => {
    await leaveKey(path, (header) => bodyOf(api.POST('/api/teams/{id}/leave', { params: { path, header } })))
    await gone()
  }
  const remove = async () => {
    await deleteKey(path, (header) => bodyOf(api.DELETE('/api/teams/{id}', { params: { path, header } })))
    await gone()
  }
  const name = shownText(team.name)
  const others = members.length > 1 ? ` Its other ${members.length - 1} members lose it too.` : ''
  return (
    <section className={layout.section}>
      <h2>This team</h2>
      <Rename team={team} />
      <div className={layout.bar}>
        <ConfirmButton
          text="Leave the team"
          title={`Leave ${name}`}
          why={whyNot(team.can.leave)}
          act={leave}
          onRefused={again}
        >
          <p>You lose access to its jobs, scripts and capsules, and the API keys that you made for it stop working.</p>
        </ConfirmButton>
        <ConfirmButton
          text="Delete the team"
          title={`Delete ${name}`}
          why={whyNot(team.can.delete)}
          act={remove}
          onRefused={again}
        >
          <p>
            Its keys, credentials, webhooks, invitations, scripts and capsules are deleted for good, published capsules
            included.{others} Its jobs and its ledger stay with the service until their retention ends.
          </p>
        </ConfirmButton>
      </div>
    </section>
  )
}

function Rename({ team }: { team: TeamRecord }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  const [name, setName] = useState(team.name)
  const rename = () =>
    action.run(async () => {
      const body = { name }
      const path = { id: team.id }
      await withKey(body, (header) => bodyOf(api.PATCH('/api/teams/{id}', { params: { path, header }, body })))
      await readTeamAgain(queryClient)
    })
  return (
    <ActionForm
      label="Name"
      button="Rename"
      action={action}
      fields={['name']}
      why={whyNot(team.can.rename)}
      onSubmit={() => void rename()}
    >
      {(faultAt) => (
        <LimitedField
          label="Name of the team"
          limits={limitsOf('renameTeam', 'name')}
          value={name}
          onChange={setName}
          fault={faultAt('name')}
          isRequired
        />
      )}
    </ActionForm>
  )
}
