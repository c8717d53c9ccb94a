// A published capsule as everyone sees it. Nothing in it names a person or a team.
import { type Static, Type } from 'typebox'
import type { PublicCapsule as PublishedCapsule } from '../../../db/capsules/capsule-seals.js'
import { type CapsuleFileInfo, countExecutions } from '../../../db/capsules/capsules.js'
import { readDefinition, workflowView } from '../../../domain/capsules/capsule-definition.js'
import { nullable, text, time, uuid } from '../http/response.js'
import {
  CapsuleEvidence,
  CapsuleWorkflow,
  capsuleDigest,
  evidenceView,
  PublicSeal,
  publicSealView
} from './capsule-view.js'

export const PublicCapsuleSummary = Type.Object(
  {
    id: uuid,
    slug: text,
    title: text,
    description: text,
    license: nullable(text),
    category: nullable(text),
    tags: Type.Array(text),
    published_at: time,
    backends: Type.Array(text),
    capsule_digest: capsuleDigest,
    sealed_at: time
  },
  { $id: 'PublicCapsuleSummary' }
)

export const PublicCapsule = Type.Object(
  {
    ...PublicCapsuleSummary.properties,
    name: text,
    readme: nullable(text),
    workflow: nullable(CapsuleWorkflow),
    regulatory_framework: nullable(text),
    evidence: CapsuleEvidence,
    seal: PublicSeal
  },
  { $id: 'PublicCapsule' }
)

/** A capsule in the list of the public catalogue. */
export const publicSummaryView = ({
  capsule,
  publication,
  seal
}: PublishedCapsule): Static<typeof PublicCapsuleSummary> => ({
  id: capsule.id,
  slug: publication.slug,
  title: publication.title,
  description: publication.description,
  license: publication.license,
  category: publication.category,
  tags: publication.tags,
  published_at: publication.publishedAt.toISOString(),
  backends: capsule.backends,
  capsule_digest: seal.capsuleDigest,
  sealed_at: seal.sealedAt.toISOString()
})

/** A published capsule with everything that it publishes: programs, parameters, digests of its evidence, seal. */
export const publicCapsuleView = (found: PublishedCapsule, files: CapsuleFileInfo[]): Static<typeof PublicCapsule> => ({
  ...publicSummaryView(found),
  name: found.capsule.name,
  readme: found.publication.readme,
  workflow: workflowView(readDefinition(found.capsule.definition)),
  regulatory_framework: found.capsule.regulatoryFramework,
  evidence: evidenceView({ taskExecutions: countExecutions(files), files }),
  seal: { ...publicSealView(found.seal), exit_code: found.seal.exitCode, margin: Number(found.seal.margin) }
})
