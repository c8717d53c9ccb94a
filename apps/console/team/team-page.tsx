// Around the pages of a team: its name, its parts, and who it is for without one.
import { useQueryClient } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { useWriteKey } from '../api/write-key.js'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { LimitedField } from '../components/limits/limited-field.js'
import { limitsOf } from '../components/limits/limits.js'
import { Modal } from '../components/modal.js'
import { Empty } from '../components/notice.js'
import { PageNav } from '../components/page-nav.js'
import { useTeam } from '../shell/team.js'
import { shownText } from '../text/shown-text.js'
import { ActionForm } from './parts/action-form.js'
import { useAction } from './parts/use-action.js'
import { readTeamAgain } from './team-queries.js'

const parts = [
  { to: '/team/members', text: 'Members' },
  { to: '/team/invitations', text: 'Invitations' },
  { to: '/team/credentials', text: 'Credentials' },
  { to: '/team/keys', text: 'API keys' },
  { to: '/team/webhooks', text: 'Webhooks' },
  { to: '/team/budget', text: 'Budget' },
  { to: '/team/usage', text: 'Usage' },
  { to: '/team/retention', text: 'Retention' }
] as const

export function TeamPage() {
  const { team } = useTeam()
  const [making, setMaking] = useState(false)
  if (!team)
    return (
      <Empty title="You have no team yet">
        <p>A team has members, keys and a budget. Your first job makes one of your own; or create one now.</p>
        <NewTeam onMade={() => {}} />
      </Empty>
    )
  return (
    <>
      <div className={layout.bar}>
        <h1>Team {shownText(team.name)}</h1>
        <Button onPress={() => setMaking(true)}>Create another team</Button>
      </div>
      <PageNav label="Parts of the team" pages={parts} />
      {making ? (
        <Modal title="Create a team" onClose={() => setMaking(false)}>
          <NewTeam onMade={() => setMaking(false)} />
        </Modal>
      ) : null}
      {/* Another team's page begins anew, with nothing of the first one's forms. */}
      <Outlet key={team.id} />
    </>
  )
}

function NewTeam({ onMade }: { onMade: () => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const action = useAction()
  const [name, setName] = useState('')
  const create = () =>
    action.run(async () => {
      const body = { name }
      const { id } = await withKey(body, (header) => bodyOf(api.POST('/api/teams', { body, params: { header } })))
      await readTeamAgain(queryClient)
      onMade()
      await navigate({ to: '/team/members', search: { team: id } })
    })
  return (
    <ActionForm
      label="New team"
      button="Create the team"
      action={action}
      fields={['name']}
      onSubmit={() => void create()}
    >
      {(faultAt) => (
        <LimitedField
          label="Name of the team"
          limits={limitsOf('createTeam', 'name')}
          value={name}
          onChange={setName}
          fault={faultAt('name')}
          isRequired
        />
      )}
    </ActionForm>
  )
}
