// The workspaces, and the applications and keys that open them. Nothing here is a secret: it opens only an emulator on this
// machine, and a team's stored credentials must work after every start.

export interface Workspace {
  readonly subscription: string
  readonly resourceGroup: string
  readonly name: string
  readonly location: string
  /** The account of the storage that is linked to it. */
  readonly storageAccount: string
}

export interface Application {
  readonly kind: 'application'
  readonly tenant: string
  readonly client: string
  readonly secret: string
}

export interface AccessKey {
  readonly kind: 'key'
  readonly key: string
}

export interface Identity {
  /** By which the control interface names it. */
  readonly id: string
  readonly workspace: Workspace
  /** Whether it has the role that the workspace requires. */
  readonly hasRole: boolean
  readonly credential: Application | AccessKey
  active: boolean
}

const mainWorkspace: Workspace = {
  subscription: '00000000-e000-4000-8000-000000000001',
  resourceGroup: 'emulated-group',
  name: 'emulated-workspace',
  location: 'eastus',
  storageAccount: 'emulatedquantum'
}
const otherWorkspace: Workspace = {
  subscription: '00000000-e000-4000-8000-000000000002',
  resourceGroup: 'other-group',
  name: 'other-workspace',
  location: 'westeurope',
  storageAccount: 'otherquantum'
}
export const workspaces: readonly Workspace[] = [mainWorkspace, otherWorkspace]

const application = (number: 1 | 2 | 3, tenant: 1 | 2, secret: string): Application => ({
  kind: 'application',
  tenant: `00000000-e000-4000-8000-00000000001${tenant}`,
  client: `00000000-e000-4000-8000-00000000002${number}`,
  secret
})

const key = (text: string): AccessKey => ({ kind: 'key', key: text })

/**
 * The first is that of the description. The second is another secret of the same application, which replaces the first in
 * tests; the third has no role in the workspace; the fourth belongs to a stranger. The keys are two of the workspace and one of
 * the stranger's.
 */
const firstIdentities = (): Identity[] =>
  (
    [
      ['first-secret', mainWorkspace, true, application(1, 1, 'emulated~secret.of.the.first.application-01')],
      ['second-secret', mainWorkspace, true, application(1, 1, 'emulated~secret.of.the.first.application-02')],
      ['no-role', mainWorkspace, false, application(2, 1, 'emulated~secret.without.a.role.in.workspace')],
      ['other-secret', otherWorkspace, true, application(3, 2, 'emulated~secret.of.another.subscription-01')],
      ['first-key', mainWorkspace, true, key('emulated-first-key-of-the-workspace')],
      ['second-key', mainWorkspace, true, key('emulated-second-key-of-the-workspace')],
      ['other-key', otherWorkspace, true, key('emulated-key-of-another-workspace')]
    ] as const
  ).map(([id, workspace, hasRole, credential]) => ({ id, workspace, hasRole, credential, active: true }))

export class Identities {
  private all = firstIdentities()

  list(): readonly Identity[] {
    return this.all
  }

  get(id: string): Identity | null {
    return this.all.find((one) => one.id === id) ?? null
  }

  /** Active or not. */
  withKey(text: string): Identity | null {
    return this.all.find(({ credential }) => credential.kind === 'key' && credential.key === text) ?? null
  }

  /** The secrets of an application of a tenant. */
  ofApplication(tenant: string, client: string): Identity[] {
    return this.all.filter(
      ({ credential }) =>
        credential.kind === 'application' && same(credential.tenant, tenant) && same(credential.client, client)
    )
  }

  hasTenant(tenant: string): boolean {
    return this.all.some(({ credential }) => credential.kind === 'application' && same(credential.tenant, tenant))
  }

  reset(): void {
    this.all = firstIdentities()
  }
}

/** Names in Azure's paths match in any case. */
export const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** By the names of a team's secrets. */
export const credentialsOf = ({ workspace, credential }: Identity): Record<string, string> => ({
  subscription_id: workspace.subscription,
  resource_group: workspace.resourceGroup,
  workspace_name: workspace.name,
  location: workspace.location,
  ...(credential.kind === 'key'
    ? { api_key: credential.key }
    : { tenant_id: credential.tenant, client_id: credential.client, client_secret: credential.secret })
})

export const describedCredentials = credentialsOf(firstIdentities()[0]!)

/** Who acted, as a job names it. */
export const actorOf = ({ id, credential }: Identity): { name: string; type: 'Application' | 'Key' } =>
  credential.kind === 'key' ? { name: id, type: 'Key' } : { name: credential.client, type: 'Application' }
