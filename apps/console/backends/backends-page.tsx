// Where jobs can run: state with its age, queue, price, limits, and why not.
import { useQuery } from '@tanstack/react-query'
import type { Backend } from '../api/client.js'
import { Fact, Facts } from '../components/facts.js'
import { Loading, Refusal } from '../components/notice.js'
import { usd } from '../components/text.js'
import { usePageTitle } from '../shell/page-title.js'
import styles from './backends.module.css'
import { StatusAge, watchedBackends } from './status-age.js'

const tiers = { simulator: 'Simulators', qpu: 'Quantum computers' } as const satisfies Record<
  Backend['deviceType'],
  string
>

export function BackendsPage() {
  usePageTitle('Backends')
  const { data, error } = useQuery(watchedBackends)
  if (!data) return error ? <Refusal error={error} /> : <Loading />
  const shown = data.backends.filter(({ isRetired }) => !isRetired)
  return (
    <>
      <h1>Backends</h1>
      {Object.entries(tiers).map(([tier, title]) => {
        const here = shown.filter(({ deviceType }) => deviceType === tier)
        return here.length === 0 ? null : (
          <section key={tier} className={styles.tier}>
            <h2>{title}</h2>
            <ul className={styles.cards}>
              {here.map((backend) => (
                <Card key={backend.slug} backend={backend} />
              ))}
            </ul>
          </section>
        )
      })}
    </>
  )
}

function Card({ backend }: { backend: Backend }) {
  return (
    <li className={styles.card}>
      <h3>{backend.name}</h3>
      <p className={styles.quiet}>
        <code>{backend.slug}</code> {backend.provider}
        {backend.region ? `, ${backend.region}` : ''}
        {backend.emulated ? ', emulated' : ''}
      </p>
      {backend.description ? <p>{backend.description}</p> : null}
      <p className={backend.isAvailable ? styles.ok : styles.bad}>
        {backend.isAvailable ? 'Takes jobs' : (backend.unavailableReason ?? 'Takes no jobs')}
      </p>
      <Facts>
        <Fact name="Status">
          <StatusAge backend={backend} />
        </Fact>
        <Fact name="Queue">{queueOf(backend)}</Fact>
        <Fact name="Price">{priceOf(backend)}</Fact>
        <Fact name="Limits">
          {[
            backend.maxQubits === null ? null : `${backend.maxQubits} qubits`,
            backend.maxShots === null ? null : `${backend.maxShots} shots`
          ]
            .filter(Boolean)
            .join(', ') || 'none stated'}
        </Fact>
      </Facts>
    </li>
  )
}

const queueOf = ({ queueLength, queueTimeSeconds }: Backend): string =>
  queueLength === null && queueTimeSeconds === null
    ? 'not stated'
    : [
        queueLength === null ? null : `${queueLength} jobs`,
        queueTimeSeconds === null ? null : `about ${Math.round(queueTimeSeconds)} s`
      ]
        .filter(Boolean)
        .join(', ')

function priceOf({ pricing: { taskFee, perShot, minimumCost, perSecond, secondsMax } }: Backend): string {
  const parts = [
    taskFee > 0 ? `${usd(taskFee)} a task` : null,
    perShot > 0 ? `${usd(perShot)} a shot` : null,
    perSecond ? `${usd(perSecond)} a second, for at most ${secondsMax} s` : null,
    minimumCost > 0 ? `at least ${usd(minimumCost)}` : null
  ].filter(Boolean)
  return parts.join(', ') || 'free'
}
