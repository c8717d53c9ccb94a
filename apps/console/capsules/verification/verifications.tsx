// All verifications of a capsule, a page at a time.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Loading, Refusal } from '../../components/notice.js'
import { Pager } from '../../components/pager.js'
import { verificationsQuery } from '../record/capsule-queries.js'
import type { ReadCapsule } from '../record/capsule-record.js'
import { History } from './history.js'

const route = getRouteApi('/signed-in/capsules/$id')

export function Verifications({ capsule: { record } }: { capsule: ReadCapsule }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const past = useQuery({ ...verificationsQuery(record.id, page), placeholderData: keepPreviousData })
  if (past.error) return <Refusal error={past.error} />
  if (!past.data) return <Loading />
  const { verifications, drift, total } = past.data
  if (total === 0) return <p>This capsule has not been verified yet.</p>
  return (
    <>
      <History past={verifications} drift={drift} />
      <Pager
        end={past.data}
        rows={verifications.length}
        noun="verification"
        onPage={(next) => void navigate({ search: (search) => ({ ...search, page: next }), resetScroll: false })}
      />
    </>
  )
}
