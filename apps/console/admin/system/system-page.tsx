// The state of the platform as the service reports it, read anew every quarter of a minute while the page is seen.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from '../../components/button.js'
import { Fact, Facts } from '../../components/facts.js'
import layout from '../../components/layout.module.css'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { numbered } from '../../text/exact-numbers.js'
import styles from '../admin.module.css'
import { type System, systemQuery } from '../admin-queries.js'
import { Sweeps } from './sweeps.js'

export function SystemPage() {
  usePageTitle('System')
  const { data, error, isFetching, refetch } = useQuery(systemQuery)
  return (
    <>
      <div className={layout.bar}>
        <h1>System</h1>
        {data ? (
          <p className={layout.quiet}>
            Version {data.version}, as of <Time at={data.at} />
          </p>
        ) : null}
        <Button onPress={() => void refetch()} isDisabled={isFetching}>
          Read again
        </Button>
      </div>
      <Refusal error={error} />
      {data ? <State system={data} /> : error ? null : <Loading />}
    </>
  )
}

function State({ system }: { system: System }) {
  const { parts, queues, workers, jobs, outbox, providers, sweeps, executor } = system
  return (
    <>
      <Section title="Parts">
        <Table label="Parts" heads={['Part', 'State', 'Response', 'Message']}>
          {Object.entries(parts).map(([name, { state, latency_ms, message }]) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <StateWord state={state} />
              </td>
              <td>{latency_ms === undefined ? '–' : `${latency_ms} ms`}</td>
              <Wide>{message ?? ''}</Wide>
            </tr>
          ))}
        </Table>
      </Section>
      <Section title="Jobs, queues and workers">
        <Facts>
          <Probed name="Jobs" part={jobs} />
          <Probed name="Outbox" part={outbox} />
          <Probed name="Queue of direct jobs" part={queues.direct} />
          <Probed name="Task queue of Temporal" part={queues.temporal} />
          <Probed name="Direct workers" part={workers.direct} />
          <Fact name="Workers of Temporal">
            <Failing part={workers.temporal} />
            {workers.temporal.pollers?.length === 0 ? 'none' : ''}
            {workers.temporal.pollers?.map(({ identity, last_seen_at }) => (
              <div key={identity}>
                {identity}, seen <Time at={last_seen_at} />
              </div>
            ))}
          </Fact>
        </Facts>
      </Section>
      <Section title="Sweeps">
        <Failing part={sweeps} />
        <Sweeps label="Sweeps" sweeps={sweeps} />
      </Section>
      <Section title="Providers">
        <Failing part={providers} />
        <Providers providers={providers} />
      </Section>
      <Section title="Executor">
        <Failing part={executor} />
        <Facts>
          <Values name="Slots" values={executor.slots} />
          <Values name="Sandbox" values={executor.sandbox} />
          <Fact name="Engines">
            {executor.engines?.map((engine) => (
              <div key={String(engine.name)}>
                {String(engine.name)} {String(engine.version ?? '')}
              </div>
            ))}
          </Fact>
        </Facts>
      </Section>
      <Section title="On the machine of the service">
        <p>These have no page, because they need its files and keys:</p>
        <Facts>
          <Fact name="A backup, and its restoration">
            <code>npx qjob admin backup FILE</code>, <code>npx qjob admin restore FILE</code>
          </Fact>
          <Fact name="New keys">
            <code>npx qjob admin rotate-keys</code>, <code>npx qjob admin rotate-signing-key</code>
          </Fact>
          <Fact name="A new administrator">
            <code>npx qjob admin grant EMAIL</code>
          </Fact>
          <Fact name="All trails at once, with the checkpoints outside">
            <code>npx qjob audit verify --database</code>
          </Fact>
        </Facts>
      </Section>
    </>
  )
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={layout.section} aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

const StateWord = ({ state }: { state: string }) => (
  <span className={state === 'ok' ? styles.ok : styles.bad}>{state}</span>
)

const Failing = ({ part }: { part: { state: string; message?: string } }) =>
  part.state === 'ok' ? null : <Notice tone="bad">{part.message ?? 'This cannot be read.'}</Notice>

/** The figures of a part, under the names that the service gives them. */
function Probed({ name, part }: { name: string; part: { state: string; message?: string } }) {
  const { state: _, message: __, ...figures } = part
  return (
    <Fact name={name}>
      <Failing part={part} />
      {Object.entries(figures).map(([figure, value]) => (
        <div key={figure}>
          {figure.replaceAll('_', ' ')}: {String(value ?? '–')}
        </div>
      ))}
    </Fact>
  )
}

const Values = ({ name, values }: { name: string; values: Record<string, unknown> | undefined }) => (
  <Fact name={name}>
    {Object.entries(values ?? {})
      .filter(([, value]) => value !== null)
      .map(([key, value]) => (
        <div key={key}>
          {key.replaceAll('_', ' ')}: {typeof value === 'object' ? JSON.stringify(value) : String(value)}
        </div>
      ))}
  </Fact>
)

function Providers({ providers }: { providers: System['providers'] }) {
  const rows = Object.entries(providers).flatMap(([name, provider]) =>
    typeof provider === 'object' ? [{ name, ...provider }] : []
  )
  if (rows.length === 0) return <p className={layout.quiet}>No worker serves a provider.</p>
  return (
    <Table label="Providers" heads={['Provider', 'Backends', 'A worker was seen', 'The provider was asked']}>
      {rows.map(({ name, backends, online, worker_seen_at, asked_at }) => (
        <tr key={name}>
          <td>{name}</td>
          <td>
            {numbered(backends, 'backend')}, {online} online
          </td>
          <td>
            <Time at={worker_seen_at} />
          </td>
          <td>
            <Time at={asked_at} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
