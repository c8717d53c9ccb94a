// API keys: what each tier allows, and the format of a key.

/** Each tier includes the ones before it: read; write and run on free backends; run on paid backends. */
export const keyTiers = ['read', 'simulate', 'qpu'] as const
export type KeyTier = (typeof keyTiers)[number]

/** A `test` key runs on free backends only, whatever its tier. */
export const keyKinds = ['live', 'test'] as const
export type KeyKind = (typeof keyKinds)[number]

/** `marqey_live_` or `marqey_test_`, followed by 32 random bytes in base64url. */
export const keyShape = /^marqey_(live|test)_[A-Za-z0-9_-]{43}$/

export const keyPrefix = (kind: KeyKind): string => `marqey_${kind}_`

/** How many leading characters of a key remain visible after its creation. */
export const KEY_PREFIX_LENGTH = 18

export const reaches = (tier: KeyTier, needed: KeyTier): boolean => keyTiers.indexOf(tier) >= keyTiers.indexOf(needed)
