// Whether a published capsule is what was signed, checked in the reader's own browser.
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf, fetchPart } from '../../../api/client.js'
import { Button } from '../../../components/button.js'
import { Notice, Refusal } from '../../../components/notice.js'
import { groupedDigits, numbered } from '../../../text/exact-numbers.js'
import { pathOf } from '../public-queries.js'
import { type ArchiveCheck, checkArchive } from './check-archive.js'
import { canVerify, checkEnvelope } from './dsse.js'

/** @param digest the identity that the page shows. */
export function SignatureCheck({ slug, digest }: { slug: string; digest: string }) {
  const able = useQuery({ queryKey: ['can verify'], staleTime: Number.POSITIVE_INFINITY, queryFn: canVerify })
  const [bytes, setBytes] = useState(0)
  const check = useMutation({ mutationFn: () => checkPublished(slug, digest, setBytes) })
  if (able.data === undefined) return null
  return (
    <section aria-label="Signature">
      <h2>Signature</h2>
      {able.data ? (
        <>
          <Button kind="main" isDisabled={check.isPending} onPress={() => check.mutate()}>
            Check it in this browser
          </Button>
          {check.isPending ? <p role="status">{groupedDigits(bytes)} bytes checked…</p> : null}
          <Refusal error={check.error} />
          {check.data ? <Outcome outcome={check.data} /> : null}
        </>
      ) : (
        <>
          <Notice tone="warn">
            This browser cannot check signatures here: that takes https, or a service on this machine, and a browser
            that knows Ed25519.
          </Notice>
          <p>Download the package and the attestation below, and run:</p>
          <pre>
            {`npx qjob signing-keys > keys\nnpx qjob capsule verify FILE.capsule --id ${digest} --attestation ${slug}.attestation.json --key keys`}
          </pre>
        </>
      )}
    </section>
  )
}

interface Checked extends ArchiveCheck {
  keyId: string | null
}

async function checkPublished(slug: string, digest: string, onProgress: (bytes: number) => void): Promise<Checked> {
  onProgress(0)
  const params = { path: { slug } }
  const [envelope, { keys }] = await Promise.all([
    bodyOf(api.GET('/api/capsules/public/{slug}/attestation', { params })),
    bodyOf(api.GET('/api/meta/keys'))
  ])
  const statement = await checkEnvelope(envelope, keys)
  if (typeof statement === 'string') return { files: 0, bytes: 0, faults: [statement], keyId: null }
  if (statement.capsuleId !== digest)
    return { files: 0, bytes: 0, faults: [`another capsule was signed: ${statement.capsuleId}`], keyId: null }
  const response = await fetchPart(`${pathOf(slug)}/export?format=capsule`, new AbortController().signal)
  return { ...(await checkArchive(response.body!, statement, onProgress)), keyId: statement.keyId }
}

function Outcome({ outcome: { faults, files, bytes, keyId } }: { outcome: Checked }) {
  if (faults.length > 0)
    return (
      <Notice tone="bad">
        This is not what was signed:
        <ul>
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      </Notice>
    )
  return (
    <Notice tone="ok">
      The signature holds. {numbered(files, 'file')} with {groupedDigits(bytes)} bytes are as they were signed with the
      key <code>{keyId}</code>. Whether this is the key of the service that you trust, compare with one that you know
      from elsewhere.
    </Notice>
  )
}
