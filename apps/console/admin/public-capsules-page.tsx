// Taking a capsule out of the public catalogue.

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
import { shownText } from '../text/shown-text.js'
import { publicCapsulesQuery, readAgain } from './admin-queries.js'
import { List, SearchForm } from './searched-list.js'
import { WriteDialog } from './write-dialog.js'

const route = getRouteApi('/administrators/admin/capsules')

export function PublicCapsulesPage() {
  usePageTitle('Public capsules')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error } = useQuery(publicCapsulesQuery(search))
  const [taken, setTaken] = useState<string | null>(null)
  return (
    <>
      <h1>Public capsules</h1>
      <SearchForm
        key={search.q}
        label="Title or description"
        q={search.q ?? ''}
        onSearch={(q) => void navigate({ search: q === '' ? {} : { q } })}
      />
      {taken ? <Notice tone="ok">“{shownText(taken)}” is out of the catalogue.</Notice> : null}
      <List
        list={{ data, error }}
        rows={data?.capsules ?? []}
        label="Public capsules"
        heads={['Capsule', 'Published', 'Take down']}
        row={({ id, slug, title, description, published_at }) => (
          <tr key={id}>
            <Wide>
              {title} <code>{slug}</code>
              <div className={layout.quiet}>{description}</div>
            </Wide>
            <td>
              <Time at={published_at} />
            </td>
            <td>
              <TakeDown id={id} title={title} onDone={() => setTaken(title)} />
            </td>
          </tr>
        )}
        noun="capsule"
        none={{ title: 'No published capsule matches', text: 'Capsules that were taken down are not listed.' }}
        onPage={(page) => void navigate({ search: { ...search, page } })}
      />
    </>
  )
}

function TakeDown({ id, title, onDone }: { id: string; title: string; onDone: () => void }) {
  const queryClient = useQueryClient()
  return (
    <WriteDialog
      action="Take down"
      title={`Take down “${shownText(title)}”`}
      kind="danger"
      fields={[
        {
          name: 'reason',
          label: 'Reason, which its team reads',
          kind: 'area',
          limits: limitsOf('adminTakeDownCapsule', 'reason')
        }
      ]}
      send={(body, header) =>
        bodyOf(api.POST('/api/admin/capsules/{id}/takedown', { params: { path: { id }, header }, body }))
      }
      onDone={() => {
        onDone()
        return readAgain(queryClient)
      }}
    >
      <p>It leaves the public catalogue for good. Its team keeps the capsule.</p>
    </WriteDialog>
  )
}
