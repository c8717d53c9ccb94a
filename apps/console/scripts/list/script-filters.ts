// The filters of the list of scripts, as its address holds them.
export const scriptKinds = {
  own: 'Yours',
  team: 'Of the team',
  public: 'Published',
  template: 'Templates'
} as const

export type ScriptKind = keyof typeof scriptKinds

export interface ScriptFilters {
  kind?: ScriptKind
  q?: string
}

const isKind = (value: unknown): value is ScriptKind => typeof value === 'string' && Object.hasOwn(scriptKinds, value)

export const readScriptFilters = ({ kind, q }: Record<string, unknown>): ScriptFilters => ({
  ...(isKind(kind) && { kind }),
  ...(typeof q === 'string' && q !== '' && { q })
})
