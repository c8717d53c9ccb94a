// The last pass of each sweep, and what it found. Proofs of the ledger are sweeps too.
import { Table, Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import styles from '../admin.module.css'
import type { Money, System } from '../admin-queries.js'

export function Sweeps({ label, sweeps }: { label: string; sweeps: System['sweeps'] | Money['proofs'] }) {
  const rows = Object.entries(sweeps).flatMap(([name, sweep]) =>
    typeof sweep === 'object' ? [{ name, ...sweep }] : []
  )
  return (
    <Table label={label} heads={['Sweep', 'Last success', 'Handled', 'Failed', 'Error and findings']}>
      {rows.map(({ name, ran_at, succeeded_at, late, handled, failed, error, findings }) => (
        <tr key={name}>
          <td>{name.replaceAll('_', ' ')}</td>
          <td>
            <Time at={succeeded_at} />
            {late ? (
              <div className={styles.bad}>
                late; last pass <Time at={ran_at} />
              </div>
            ) : null}
          </td>
          <td>{handled}</td>
          <td>{failed}</td>
          <Wide>
            {error ? <p className={styles.bad}>{error}</p> : null}
            {findings.length > 0 ? (
              <ul className={styles.findings}>
                {findings.map(({ message, at }) => (
                  <li key={`${at} ${message}`}>
                    {message} (<Time at={at} />)
                  </li>
                ))}
              </ul>
            ) : null}
          </Wide>
        </tr>
      ))}
    </Table>
  )
}
