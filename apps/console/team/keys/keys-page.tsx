// API keys of the team: what each may do, its limit and its last use. A new one is shown once.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import layout from '../../components/layout.module.css'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { Time, usd } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { shownText } from '../../text/shown-text.js'
import { ConfirmButton } from '../parts/confirm.js'
import { whyNot } from '../parts/verdicts.js'
import { type ApiKey, keysQuery, membersQuery, readTeamAgain } from '../team-queries.js'
import { useTeamRecord } from '../use-team-record.js'
import { NewKey } from './new-key.js'
import { kindText, tierText } from './tier-text.js'

export function KeysPage() {
  usePageTitle('API keys')
  const { id, record, error } = useTeamRecord()
  if (!record) return error ? <Refusal error={error} /> : <Loading />
  if (record.can.list_api_keys !== true) return <Notice>{record.can.list_api_keys}</Notice>
  return (
    <>
      <NewKey team={record} />
      <KeyList teamId={id} />
    </>
  )
}

function KeyList({ teamId }: { teamId: string }) {
  const { data: keys, error } = useQuery(keysQuery(teamId))
  const { data: members } = useQuery(membersQuery(teamId))
  const [earlier, setEarlier] = useState<string | null>(null)
  const nameOf = (userId: string | null) =>
    shownText(members?.find(({ user_id }) => user_id === userId)?.name ?? 'a former member')
  return (
    <section className={layout.section}>
      <h2>Keys</h2>
      {keys?.length === 0 ? <p>The team has no key.</p> : null}
      {keys && keys.length > 0 ? (
        <Table
          label="API keys"
          heads={['Name', 'Begins with', 'May', 'Daily limit', 'Made by', 'Last use', 'Ends', 'Actions']}
        >
          {keys.map((key) => (
            <Row key={key.id} apiKey={key} madeBy={nameOf(key.created_by)} onRevoked={setEarlier} />
          ))}
        </Table>
      ) : null}
      {keys ? null : error ? <Refusal error={error} /> : <Loading />}
      {earlier === null ? null : <Notice tone="ok">The key {earlier} is revoked.</Notice>}
    </section>
  )
}

function Row(props: { apiKey: ApiKey; madeBy: string; onRevoked: (name: string) => void }) {
  const { apiKey, madeBy, onRevoked } = props
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const name = shownText(apiKey.name)
  const again = () => readTeamAgain(queryClient)
  const revoke = async () => {
    const path = { id: apiKey.id }
    await withKey(path, (header) => bodyOf(api.DELETE('/api/team/api-keys/{id}', { params: { path, header } })))
    onRevoked(name)
    await again()
  }
  return (
    <tr>
      <Wide>{name}</Wide>
      <td>
        <code>{apiKey.prefix}…</code>
      </td>
      <Wide>
        {tierText[apiKey.tier]}; {kindText[apiKey.kind]}
      </Wide>
      <td>{apiKey.daily_limit_usd === null ? 'none of its own' : usd(apiKey.daily_limit_usd)}</td>
      <Wide>{madeBy}</Wide>
      <td>{apiKey.last_used_at === null ? 'never' : <Time at={apiKey.last_used_at} />}</td>
      <td>{apiKey.expires_at === null ? 'never' : <Time at={apiKey.expires_at} />}</td>
      <td>
        <ConfirmButton
          text="Revoke"
          title={`Revoke the key ${name}`}
          why={whyNot(apiKey.can.revoke)}
          act={revoke}
          onRefused={again}
        >
          <p>Every program that uses it is refused from now on. Its jobs continue.</p>
        </ConfirmButton>
      </td>
    </tr>
  )
}
