// The API keys and instances that open the emulated IBM Cloud. Nothing here is a secret: it opens only an emulator on this
// machine, and a team's stored keys must work after every start.

export const account = '0123456789abcdef0123456789abcdef'
export const otherAccount = 'fedcba9876543210fedcba9876543210'

/** Who makes a request. The limits of IBM count by user, and both keys of an account belong to one. */
export interface Caller {
  user: string
  account: string
}

export interface ApiKey extends Caller {
  token: string
  /** The instance of its account, as the CRN of the header Service-CRN. */
  instance: string
  active: boolean
}

const instanceOf = (owner: string, id: string): string =>
  `crn:v1:bluemix:public:quantum-computing:us-east:a/${owner}:${id}::`

const instances: Readonly<Record<string, string>> = {
  [account]: instanceOf(account, '11111111-2222-4333-8444-555555555555'),
  [otherAccount]: instanceOf(otherAccount, '99999999-8888-4777-8666-555555555555')
}

const keyOf = (token: string, owner: string, user: string): ApiKey => ({
  token,
  user,
  account: owner,
  instance: instances[owner]!,
  active: true
})

/** The first key is the one of the description; the second replaces it in tests; the third is a stranger's. */
const firstKeys = (): ApiKey[] => [
  keyOf('emulated-ibm-key-of-the-account-0000000001', account, 'IBMid-100000EMUL'),
  keyOf('emulated-ibm-key-of-the-account-0000000002', account, 'IBMid-100000EMUL'),
  keyOf('emulated-ibm-key-of-another-account-000003', otherAccount, 'IBMid-200000EMUL')
]

export const describedKey = firstKeys()[0]!

export class ApiKeys {
  private keys = firstKeys()

  /** One that exists, active or not. */
  get(token: string): ApiKey | null {
    return this.keys.find((key) => key.token === token) ?? null
  }

  /** Null for a key that was revoked, too. */
  active(token: string): ApiKey | null {
    return this.keys.find((key) => key.token === token && key.active) ?? null
  }

  list(): readonly ApiKey[] {
    return this.keys
  }

  reset(): void {
    this.keys = firstKeys()
  }
}

/** Whether the instance is one of the caller's account. */
export const owns = (caller: Caller, instance: string): boolean => instances[caller.account] === instance
