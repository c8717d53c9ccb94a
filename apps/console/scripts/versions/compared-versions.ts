/**
 * Which two versions are compared: those of the address where the script has them, else the last two.
 * @param versions newest first.
 */
export function comparedVersions(
  versions: readonly number[],
  { from, to }: { from?: number; to?: number }
): { from: number; to: number } {
  const has = (version: number | undefined): version is number => version !== undefined && versions.includes(version)
  const [newest = 1, before = newest] = versions
  return { from: has(from) ? from : before, to: has(to) ? to : newest }
}
