// The tabs of the page of a script; its address names the open one, and the versions that are compared.
export const scriptTabs = { source: 'Source', versions: 'Versions', jobs: 'Jobs' } as const

export type ScriptTab = keyof typeof scriptTabs

export interface ScriptSearch {
  tab?: ScriptTab
  from?: number
  to?: number
}

const isTab = (value: unknown): value is ScriptTab => typeof value === 'string' && Object.hasOwn(scriptTabs, value)

const version = (value: unknown): number | undefined => {
  const number = Number(value)
  return Number.isInteger(number) && number > 0 ? number : undefined
}

export function readScriptTab({ tab, from, to }: Record<string, unknown>): ScriptSearch {
  const [first, second] = [version(from), version(to)]
  return {
    ...(isTab(tab) && { tab }),
    ...(first !== undefined && { from: first }),
    ...(second !== undefined && { to: second })
  }
}
