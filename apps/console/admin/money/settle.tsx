import { useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.js'
import { limitsOf } from '../../components/limits/limits.js'
import { usd } from '../../components/text.js'
import { numberOf } from '../../text/number-of.js'
import { readAgain } from '../admin-queries.js'
import { WriteDialog } from '../write-dialog.js'

export function Settle({ jobId, heldUsd, why = null }: { jobId: string; heldUsd: number | null; why?: string | null }) {
  const queryClient = useQueryClient()
  return (
    <WriteDialog
      action="Settle"
      title="Settle held money"
      why={why}
      fields={[
        {
          name: 'cost_usd',
          label: 'What the provider billed, in USD',
          kind: 'decimal',
          limits: limitsOf('adminSettleJob', 'cost_usd')
        },
        {
          name: 'note',
          label: 'Why, for the record of actions',
          kind: 'area',
          limits: limitsOf('adminSettleJob', 'note')
        }
      ]}
      send={({ cost_usd, note }, header) =>
        bodyOf(
          api.POST('/api/admin/jobs/{id}/settle', {
            params: { path: { id: jobId }, header },
            body: { cost_usd: numberOf(cost_usd), note },
            parseAs: 'text'
          })
        )
      }
      onDone={() => readAgain(queryClient)}
    >
      <p>
        {heldUsd === null ? '' : `${usd(heldUsd)} is held for this job. `}The cost that you state is booked once, and
        the rest is released. It cannot be changed afterwards.
      </p>
    </WriteDialog>
  )
}
