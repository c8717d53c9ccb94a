import type { components } from '../../api/schema.js'
import { Fact, Facts } from '../../components/facts.js'
import { Notice } from '../../components/notice.js'
import { shownText } from '../../text/shown-text.js'

export type TestResult = components['schemas']['TestSecretsResponse']

const names = { account: 'Account', instance: 'Instance', region: 'Region', bucket: 'Bucket' } as const

/** What a provider says of credentials: whether it takes them, what keeps jobs from running all the same, what they open. */
export function TestOutcome({ result: { valid, message, details } }: { result: TestResult }) {
  const { faults = [], devices = [] } = details
  const opened = (Object.keys(names) as (keyof typeof names)[]).filter((name) => details[name] !== undefined)
  return (
    <>
      <Notice tone={valid && faults.length === 0 ? 'ok' : 'warn'}>
        {shownText(message)}
        {faults.length === 0 ? null : (
          <>
            , but not every job can run with them:
            <ul>
              {faults.map((fault) => (
                <li key={fault}>{shownText(fault)}</li>
              ))}
            </ul>
          </>
        )}
      </Notice>
      {opened.length === 0 && devices.length === 0 ? null : (
        <Facts>
          {opened.map((name) => (
            <Fact key={name} name={names[name]}>
              {shownText(details[name]!)}
            </Fact>
          ))}
          {devices.length === 0 ? null : <Fact name="Devices">{devices.map(shownText).join(', ')}</Fact>}
        </Facts>
      )}
    </>
  )
}
