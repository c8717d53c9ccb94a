// The filters of the list of jobs, as its address holds them. The service decides what they mean.
export interface JobFilters {
  status?: string
  backend?: string
  q?: string
  mine?: boolean
}

export function readFilters({ status, backend, q, mine }: Record<string, unknown>): JobFilters {
  const given = { status, backend, q }
  const texts = Object.entries(given).filter(([, value]) => typeof value === 'string' && value !== '')
  return { ...(Object.fromEntries(texts) as JobFilters), ...(mine === true && { mine }) }
}
