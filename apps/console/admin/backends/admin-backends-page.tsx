// The catalogue as administrators change it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Backend } from '../../api/client.js'
import { StatusAge, watchedBackends } from '../../backends/status-age.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { usd } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { BackendForm } from './backend-form.js'

export function AdminBackendsPage() {
  usePageTitle('Backends of the catalogue')
  const { data, error } = useQuery(watchedBackends)
  const [changing, setChanging] = useState<Backend | null>(null)
  return (
    <>
      <h1>Backends of the catalogue</h1>
      <Refusal error={error} />
      {data ? (
        <Table label="Backends" heads={['Backend', 'Status', 'Takes jobs', 'Price', 'Place', 'Change']}>
          {data.backends.map((backend) => (
            <tr key={backend.slug}>
              <Wide>
                {backend.name}
                <div className={layout.quiet}>
                  <code>{backend.slug}</code>
                  {backend.isRecommended ? ', recommended' : ''}
                  {backend.isRetired ? ', retired' : ''}
                </div>
              </Wide>
              <Wide>
                <StatusAge backend={backend} />
              </Wide>
              <Wide>{backend.isAvailable ? 'yes' : `no: ${backend.unavailableReason}`}</Wide>
              <td>{pricesOf(backend)}</td>
              <td>{backend.displayOrder}</td>
              <td>
                <Button aria-label={`Change ${backend.name}`} onPress={() => setChanging(backend)}>
                  Change
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      ) : error ? null : (
        <Loading />
      )}
      {changing ? (
        <Modal title={`Change ${changing.name}`} onClose={() => setChanging(null)}>
          <p>Prices hold for jobs that are submitted from now on.</p>
          <BackendForm backend={changing} onClose={() => setChanging(null)} />
        </Modal>
      ) : null}
    </>
  )
}

function pricesOf({ pricing }: Backend): string {
  const { taskFee, perShot, minimumCost, perSecond } = pricing
  const parts = [
    taskFee > 0 ? `${usd(taskFee)} a task` : '',
    perShot > 0 ? `${usd(perShot)} a shot` : '',
    perSecond ? `${usd(perSecond)} a second` : '',
    minimumCost > 0 ? `at least ${usd(minimumCost)}` : ''
  ]
  return parts.filter(Boolean).join(', ') || 'free'
}
