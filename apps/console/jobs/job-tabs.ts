// The tabs of the page of a job; its address names the open one.
export const jobTabs = {
  result: 'Result',
  circuit: 'Circuit',
  output: 'Output',
  attempts: 'Attempts',
  tasks: 'Tasks',
  source: 'Source',
  artifacts: 'Artifacts'
} as const

export type JobTab = keyof typeof jobTabs

export const isJobTab = (value: unknown): value is JobTab => typeof value === 'string' && Object.hasOwn(jobTabs, value)

export const readTab = ({ tab }: Record<string, unknown>): { tab?: JobTab } => (isJobTab(tab) ? { tab } : {})
