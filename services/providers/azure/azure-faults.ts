// What Azure's services mean by a refusal, in the words that a team needs to repair it.
import type { Refusals } from '../http.js'
import { parsed } from '../json-answers.js'
import { withoutSignatures } from './addresses.js'
import { textOf } from './answers.js'

const credentials = "the team's azure-quantum credentials"

/** Of Microsoft's documented error codes of sign-in (AADSTS), those that a team can meet. */
const signInAdvice: Readonly<Record<string, string>> = {
  '7000215': `the client_secret of ${credentials} is wrong (store the secret's value, not its id)`,
  '7000222': `the client_secret of ${credentials} has expired; store a new one`,
  '7000112': `the application with the client_id of ${credentials} is disabled`,
  '700016': `the client_id of ${credentials} is not an application of their tenant_id`,
  '90002': `the tenant_id of ${credentials} is not a tenant`,
  '900023': `the tenant_id of ${credentials} is not a tenant`
}

const isRefused = (status: number): boolean => status === 400 || status === 401 || status === 403

/** Its own text is not repeated: it can contain what was sent. */
export const signInRefusals: Refusals = {
  // A wrong secret is 400 or 401.
  kindOf: ({ status }) => (isRefused(status) ? 'unauthorized' : null),
  messageOf({ status, text }) {
    if (!isRefused(status)) return null
    const { error, error_description } = parsed<{ error?: unknown; error_description?: unknown }>(text) ?? {}
    const code = /^AADSTS(\d{4,8})\b/.exec(textOf(error_description))?.[1]
    const name = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : 'the identity was refused'
    const advice = (code && signInAdvice[code]) ?? `check tenant_id, client_id and client_secret of ${credentials}`
    return `${code ? `AADSTS${code}` : name}: ${advice}`
  }
}

const wordsOf = (text: string): string | null => {
  const error = parsed<{ error?: { code?: unknown; message?: unknown } | null }>(text)?.error
  const words = [error?.code, error?.message].filter((word) => typeof word === 'string' && word !== '').join(': ')
  return words === '' ? null : withoutSignatures(words)
}

export const managerRefusals: Refusals = {
  // The workspace, its group or its subscription: without it, credentials open nothing.
  kindOf: ({ status }) => (status === 404 ? 'unauthorized' : null),
  messageOf({ status, text }) {
    const words = wordsOf(text) ?? 'no reason given'
    if (status === 404) return `${words}; check subscription_id, resource_group and workspace_name of ${credentials}`
    if (status === 403) return `${words}; the application needs a role that can read the workspace`
    return words
  }
}

export const workspaceRefusals: Refusals = {
  messageOf({ status, text }) {
    const words = wordsOf(text)
    if (status === 401) return `${words ?? 'no reason given'}; the workspace does not accept ${credentials}`
    if (status === 403)
      return `${words ?? 'no reason given'}; the workspace allows the identity of ${credentials} too little (role Quantum Workspace Data Contributor)`
    return words
  }
}

export const storageRefusals: Refusals = {
  // A blob that has no content yet has no range.
  kindOf: ({ status }) => (status === 416 ? 'not_found' : null),
  messageOf({ headers, text }) {
    const code = headers['x-ms-error-code'] ?? /<Code>(\w{1,100})<\/Code>/.exec(text)?.[1]
    const message = /<Message>([^<\n]{1,500})/.exec(text)?.[1]
    const words = [code, message].filter((word) => typeof word === 'string').join(': ')
    return words === '' ? null : withoutSignatures(words)
  }
}
