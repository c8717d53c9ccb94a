import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import layout from '../components/layout.module.css'
import { limitsOf } from '../components/limits/limits.js'
import { Notice } from '../components/notice.js'
import { Wide } from '../components/table.js'
import { Time } from '../components/text.js'
import { usePageTitle } from '../shell/page-title.js'
import { numberOf } from '../text/number-of.js'
import { accessCodesQuery, readAgain } from './admin-queries.js'
import { List } from './searched-list.js'
import { WriteForm } from './write-form.js'

const route = getRouteApi('/administrators/admin/access-codes')

export function AccessCodesPage() {
  usePageTitle('Access codes')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error } = useQuery(accessCodesQuery(search))
  return (
    <>
      <h1>Access codes</h1>
      <MakeCode />
      <List
        list={{ data, error }}
        rows={data?.access_codes ?? []}
        label="Access codes"
        heads={['Code', 'Uses left', 'Expires', 'Created']}
        row={({ code, remaining_uses, expires_at, created_at }) => (
          <tr key={code}>
            <Wide>
              <code>{code}</code>
            </Wide>
            <td>{remaining_uses}</td>
            <td>{expires_at ? <Time at={expires_at} /> : 'never'}</td>
            <td>
              <Time at={created_at} />
            </td>
          </tr>
        )}
        noun="access code"
        none={{ title: 'No access codes', text: 'Make the first one above.' }}
        onPage={(page) => void navigate({ search: { page } })}
      />
    </>
  )
}

function MakeCode() {
  const queryClient = useQueryClient()
  const [made, setMade] = useState<string | null>(null)
  return (
    <section className={layout.section} aria-label="Make an access code">
      <WriteForm
        fields={[
          {
            name: 'uses',
            label: 'Accounts that it can open',
            kind: 'integer',
            start: '1',
            limits: limitsOf('adminCreateAccessCode', 'uses')
          },
          { name: 'code', label: 'Code', help: 'Empty: a random one' },
          { name: 'expires_at', label: 'Expires', help: 'For example 2027-01-31T12:00:00Z. Empty: never' }
        ]}
        button="Make an access code"
        send={async ({ uses, code, expires_at }, header) => {
          const body = {
            uses: numberOf(uses),
            ...(code.trim() && { code: code.trim() }),
            ...(expires_at.trim() && { expires_at: expires_at.trim() })
          }
          const answer = await bodyOf(api.POST('/api/admin/access-codes', { params: { header }, body }))
          setMade(answer.code)
        }}
        onDone={() => readAgain(queryClient)}
      />
      {made ? (
        <Notice tone="ok">
          The code is <code>{made}</code>.
        </Notice>
      ) : null}
    </section>
  )
}
