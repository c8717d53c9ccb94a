// The files of the evidence with their digests; one of them read in place.
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { fetchPart } from '../../api/client.js'
import type { components } from '../../api/schema.js'
import { CountsPicture } from '../../charts/histogram/counts-picture.js'
import { Button } from '../../components/button.js'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { TextBlock } from '../../components/text-block.js'
import { laidOut, readResult, SHOWN_BYTES } from '../../jobs/record/job-record.js'
import { readResultCounts } from '../../results/counts.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import own from '../capsules.module.css'
import type { ReadCapsule } from '../record/capsule-record.js'

type File = components['schemas']['CapsuleEvidence']['artifacts'][number]

export function Evidence({ capsule: { record } }: { capsule: ReadCapsule }) {
  const { artifacts } = record.evidence
  if (artifacts.length === 0)
    return (
      <Notice>
        A draft gets its evidence with its seal: the results of its newest completed run of the present definition.
      </Notice>
    )
  return <EvidenceFiles files={artifacts} path={`/api/capsules/${record.id}/files`} />
}

/** @param path below which the service has the files. */
export function EvidenceFiles({ files, path }: { files: readonly File[]; path: string }) {
  const [open, setOpen] = useState<string | null>(null)
  const opened = files.find(({ name }) => name === open)
  return (
    <>
      <Table label="Files of the evidence" heads={['File', 'Bytes', 'SHA-256', 'Read or download']}>
        {files.map((file) => (
          <tr key={file.name}>
            <Wide>{file.name}</Wide>
            <td>{groupedDigits(file.size_bytes)}</td>
            <td>
              <span className={own.digest}>{file.sha256}</span>
            </td>
            <td>
              {isText(file) ? (
                <Button
                  aria-expanded={open === file.name}
                  aria-label={`${open === file.name ? 'Close' : 'Read'} ${file.name}`}
                  onPress={() => setOpen(open === file.name ? null : file.name)}
                >
                  {open === file.name ? 'Close' : 'Read'}
                </Button>
              ) : null}{' '}
              <a href={urlOf(path, file)} download aria-label={`Download ${file.name}`}>
                Download
              </a>
            </td>
          </tr>
        ))}
      </Table>
      {opened ? <OpenFile key={opened.name} file={opened} path={path} /> : null}
    </>
  )
}

const urlOf = (path: string, { name }: Pick<File, 'name'>): string => `${path}/${encodeURIComponent(name)}`

const isText = ({ media_type: type }: File): boolean => /^text\/|json|xml|yaml/.test(type)

/** The text of a file, which its digest fixes. */
const fileTextQuery = (path: string, file: File) => ({
  queryKey: ['capsule file', path, file.name, file.sha256],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    readResult(await fetchPart(urlOf(path, file), signal), file.size_bytes)
})

function OpenFile({ file, path }: { file: File; path: string }) {
  const text = useQuery(fileTextQuery(path, file))
  if (text.error) return <Refusal error={text.error} />
  if (!text.data) return <Loading />
  return (
    <section aria-label={`File ${file.name}`}>
      <h2>{file.name}</h2>
      {text.data.whole ? (
        <Counts file={file} text={text.data.text} />
      ) : (
        <p>The file is larger than {SHOWN_BYTES / 1024 ** 2} MiB. This is its beginning; the download has all of it.</p>
      )}
      <TextBlock label={file.name} text={text.data.whole ? laidOut(text.data.text) : text.data.text} />
    </section>
  )
}

/** A result is drawn as on the page of its job. */
function Counts({ file, text }: { file: File; text: string }) {
  const isResult = /^tasks\/[^/]+\/result\.json$/.test(file.name)
  const counts = useMemo(() => (isResult ? readResultCounts(text) : null), [isResult, text])
  return counts ? <CountsPicture reading={counts} name={file.name} /> : null
}
