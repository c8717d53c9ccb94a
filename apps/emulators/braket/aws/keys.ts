// The accounts, key pairs and session tokens that open the emulated AWS. Nothing here is a secret: it opens only an emulator
// on this machine, and a team's stored keys must work after every start.
import { randomBytes } from 'node:crypto'
import type { EmulatedClock } from '../../clock.js'

export const account = '123456789012'
export const otherAccount = '210987654321'

export interface KeyPair {
  accessKeyId: string
  secretAccessKey: string
  account: string
  /** Null for a permanent pair. */
  token: { text: string; expiresAt: number } | null
  active: boolean
}

const permanent = (accessKeyId: string, secretAccessKey: string, owner: string): KeyPair => ({
  accessKeyId,
  secretAccessKey,
  account: owner,
  token: null,
  active: true
})

/** The first pair is the one of the description; the second replaces it in tests; the third is a stranger's. */
const firstPairs = (): KeyPair[] => [
  permanent('AKIAEMULATED00000001', 'emulated/secret+of+the+first+pair+000001', account),
  permanent('AKIAEMULATED00000002', 'emulated/secret+of+the+second+pair+00002', account),
  permanent('AKIAEMULATED00000003', 'emulated/secret+of+another+account+00003', otherAccount)
]

export const describedPair = firstPairs()[0]!

/** Bounds the memory of a stack that issues tokens for weeks. */
const temporaryMax = 1000

export class Keys {
  private pairs = firstPairs()

  constructor(private readonly clock: EmulatedClock) {}

  get(accessKeyId: string): KeyPair | null {
    return this.pairs.find((pair) => pair.accessKeyId === accessKeyId) ?? null
  }

  list(): readonly KeyPair[] {
    return this.pairs
  }

  /** A temporary pair with a session token that expires in emulated time. */
  issue(owner: string, expiresInMs: number): KeyPair {
    const pair: KeyPair = {
      accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(30).toString('base64url'),
      account: owner,
      token: { text: randomBytes(96).toString('base64url'), expiresAt: this.clock.now() + expiresInMs },
      active: true
    }
    const temporary = this.pairs.filter(({ token }) => token !== null)
    const oldest = temporary.length < temporaryMax ? null : temporary[0]
    this.pairs = [...this.pairs.filter((one) => one !== oldest), pair]
    return pair
  }

  expired({ token }: KeyPair): boolean {
    return token !== null && this.clock.now() >= token.expiresAt
  }

  reset(): void {
    this.pairs = firstPairs()
  }
}
