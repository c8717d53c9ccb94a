import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { Notice, Refusal } from '../../components/notice.js'
import { usd } from '../../components/text.js'
import type { SubmitForm } from './submission.js'

/** While somebody types, nothing is asked. */
const QUIET_MS = 400

/** What the job would cost, and what is left of the team's limits, as the service computes both. */
export function Estimate({ form, team }: { form: SubmitForm; team: { team_id?: string } }) {
  const asked = useQuiet({ backend: form.backend, shots: form.shots })
  const shots = Number(asked.shots)
  const estimate = useQuery({
    queryKey: ['estimate', team, asked],
    enabled: asked.backend !== '' && Number.isInteger(shots) && shots > 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { ...team, backend: asked.backend, shots }
      return bodyOf(api.GET('/api/jobs/estimate', { params: { query }, signal }))
    }
  })
  if (estimate.error) return <Refusal error={estimate.error} />
  if (!estimate.data) return null
  const { estimated_cost_usd, budget } = estimate.data
  return (
    <Notice>
      Estimated cost: <strong>{usd(estimated_cost_usd)}</strong>. Left today: {usd(budget.day.remaining_usd)}, this
      month: {usd(budget.month.remaining_usd)}; limit of one job: {usd(budget.limits.per_job_usd)}.
    </Notice>
  )
}

/** The last value that stayed for a moment. */
function useQuiet<Value extends object>(value: Value): Value {
  const [quiet, setQuiet] = useState(value)
  const text = JSON.stringify(value)
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(JSON.parse(text) as Value), QUIET_MS)
    return () => clearTimeout(timer)
  }, [text])
  return quiet
}
