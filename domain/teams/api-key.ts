// Keys of programs: what each tier may do, and what a key looks like.

/** Each may do what those before it may: read; write and run on free backends; run on paid ones. */
export const keyTiers = ['read', 'simulate', 'qpu'] as const
export type KeyTier = (typeof keyTiers)[number]

/** A `test` key runs on free backends only, whatever its tier. */
export const keyKinds = ['live', 'test'] as const
export type KeyKind = (typeof keyKinds)[number]

/** `marqey_live_` or `marqey_test_` and 32 random bytes in base64url. */
export const keyShape = /^marqey_(live|test)_[A-Za-z0-9_-]{43}$/

export const keyPrefix = (kind: KeyKind): string => `marqey_${kind}_`

/** Characters of a key that are shown again later. */
export const SHOWN_CHARACTERS = 18

export const reaches = (tier: KeyTier, needed: KeyTier): boolean => keyTiers.indexOf(tier) >= keyTiers.indexOf(needed)
