// The facts that a package states about its capsule, sealed or not.
import type { CapsuleRow } from '../../../../db/capsules/capsules.js'
import { usdFromMicro } from '../../../../domain/money/money.js'

export const packagedCapsule = (capsule: CapsuleRow) => ({
  name: capsule.name,
  description: capsule.description,
  tags: capsule.tags,
  createdAt: capsule.createdAt,
  createdBy: `user:${capsule.ownerId ?? 'unknown'}`,
  derivedFrom: capsule.derivedFrom,
  definition: capsule.definition,
  backends: capsule.backends,
  maxBudgetUsd: capsule.maxBudget === null ? null : usdFromMicro(capsule.maxBudget),
  retentionYears: capsule.retentionYears,
  regulatoryFramework: capsule.regulatoryFramework
})
