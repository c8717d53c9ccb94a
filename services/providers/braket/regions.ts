// The region of a device. AWS answers for a device and its tasks only in that region.
import { ProviderFault } from '../adapter.js'

/** Where AWS offers Braket (July 2026). */
export const braketRegions: readonly string[] = ['us-east-1', 'us-west-1', 'us-west-2', 'eu-west-2', 'eu-north-1']

const devicePattern = /^arn:aws:braket:([a-z]{2}-[a-z]+-\d)?::device\/[\w/-]+$/

/** The region in the ARN of a quantum computer; `null` for a simulator, which runs in every region. */
function ownRegion(deviceArn: string): string | null {
  const match = devicePattern.exec(deviceArn)
  if (!match) throw new ProviderFault('refused', `${deviceArn.slice(0, 256)} is not the ARN of a Braket device`)
  return match[1] ?? null
}

export const isSimulator = (deviceArn: string): boolean => ownRegion(deviceArn) === null

/** @throws ProviderFault `refused` where a simulator's region is not one of Braket's. */
export function regionOfDevice(deviceArn: string, defaultRegion: string | undefined): string {
  const own = ownRegion(deviceArn)
  if (own !== null) return own
  if (defaultRegion !== undefined && braketRegions.includes(defaultRegion)) return defaultRegion
  throw new ProviderFault('refused', regionAdvice(defaultRegion))
}

export const regionAdvice = (defaultRegion: string | undefined): string =>
  `${defaultRegion === undefined ? 'No region' : `AWS does not offer Braket in ${defaultRegion}`}: set default_region in the ` +
  `team's aws-braket credentials to one of ${braketRegions.join(', ')}`
