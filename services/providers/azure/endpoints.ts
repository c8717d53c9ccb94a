// The address of a workspace.
import type { ProviderFault } from '../adapter.js'

/** @param named as Resource Manager names it, with the workspace before its host; the paths name the workspace too. */
export function baseOf({ protocol, host }: URL, workspace: string): string {
  const [label = '', ...rest] = host.split('.')
  // LOCATION.quantum.azure.com is left in any case.
  const isNamed = label === workspace.toLowerCase() && rest.length > 3
  return `${protocol}//${isNamed ? rest.join('.') : host}`
}

/** The hosts of a location: that of workspaces of the first version, and that of the second. */
export const basesOf = (location: string): readonly [string, string] => [
  `https://${location}.quantum.azure.com`,
  `https://${location}-v2.quantum.azure.com`
]

/** @param refusalAt why a host does not show the workspace; `null` where it does. @throws ProviderFault when neither does. */
export async function knowingBase(
  [first, second]: readonly [string, string],
  refusalAt: (base: string) => Promise<ProviderFault | null>
): Promise<string> {
  const fault = await refusalAt(first)
  if (!fault) return first
  const other = await refusalAt(second)
  if (!other) return second
  // The host that knows the workspace is the one that says what is wrong with the key.
  throw fault.kind !== 'unauthorized' && other.kind === 'unauthorized' ? other : fault
}
