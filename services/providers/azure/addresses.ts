// The addresses that Azure names in its answers. Each is checked before anything is sent there: a wrong answer must not lead a
// team's token, program or storage signature to another host.
import { ProviderFault } from '../adapter.js'

const ADDRESS_MAX = 4096
/** A storage signature (SAS) with less time left is replaced by a new one. */
const SAS_LEFT_MS = 5 * 60_000

const suffixes = { workspace: '.quantum.azure.com', storage: '.blob.core.windows.net' } as const

/** @throws ProviderFault `unclear` where there is no address, `refused` where it is not one of Azure's. */
export type CheckAddress = (of: keyof typeof suffixes, address: unknown) => URL

/** @param own replaces the workspace's address; its host is allowed too, at any port. */
export function createAddressCheck(own: string | undefined): CheckAddress {
  const replaced = own === undefined ? null : new URL(own)
  return (of, address) => {
    if (typeof address !== 'string' || address.length > ADDRESS_MAX || !URL.canParse(address))
      throw new ProviderFault('unclear', `Azure Quantum did not name the address of the ${of}`)
    const url = new URL(address)
    const isOwn =
      replaced !== null && url.hostname === replaced.hostname && ['https:', replaced.protocol].includes(url.protocol)
    const isAzures = url.protocol === 'https:' && url.port === '' && url.hostname.endsWith(suffixes[of])
    if ((isOwn || isAzures) && url.username === '' && url.password === '') return url
    const named = `${url.protocol}//${url.host}`.slice(0, 100)
    throw new ProviderFault(
      'refused',
      `Azure Quantum names ${named} as the address of the ${of}, which is not one of Azure's`
    )
  }
}

/** Whether the address carries a signature that stays valid for some minutes. */
export const isSigned = ({ searchParams }: URL): boolean =>
  searchParams.has('sig') && Date.parse(searchParams.get('se') ?? '') - Date.now() >= SAS_LEFT_MS

export function withoutSignature(url: URL): URL {
  const bare = new URL(url)
  bare.search = ''
  bare.hash = ''
  return bare
}

/** A blob of a container, with the signature of the container. */
export function blobIn(container: URL, name: string): URL {
  const blob = new URL(container)
  blob.pathname = `${container.pathname.replace(/\/$/, '')}/${name}`
  return blob
}

/** Container and name of a blob; `null` where the address is that of none. */
export function blobOf({ pathname }: URL, container: string): { containerName: string; blobName: string } | null {
  const parts = pathname.split('/').slice(1).map(unescaped)
  // Before the container, an address that replaces Azure's has the name of the storage account.
  const at = Math.max(0, parts.indexOf(container))
  const [containerName = '', ...name] = parts.slice(at)
  const isWhole = containerName !== '' && name.length > 0 && name.every((part) => !['', '.', '..'].includes(part))
  return isWhole ? { containerName, blobName: name.join('/') } : null
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** What no message may repeat of a signed address. */
export const secretsOf = (url: URL): string[] => {
  const signature = url.searchParams.get('sig')
  return signature ? [url.href, url.search, signature, encodeURIComponent(signature)] : []
}

/** Text of Azure's without the signatures of addresses in it. */
export const withoutSignatures = (text: string): string => text.replaceAll(/\bsig(?:=|%3D)[^&\s"'<>]*/gi, 'sig=...')
