// What the analysis of a script found for this run, and the consent that each warning needs.
import type { components } from '../../api/schema.js'
import { Notice } from '../../components/notice.js'
import { shownText } from '../../text/shown-text.js'
import styles from './run.module.css'

export interface Analysis {
  analysis_id: string
  can_run: boolean
  checks: components['schemas']['ScriptCheck'][]
}
type Check = Analysis['checks'][number]

/** The ids of the warnings that were consented to. */
export const consentsOf = ({ checks }: Analysis, given: ReadonlySet<string>): string[] =>
  checks.filter(({ id, level }) => level === 'warning' && given.has(id)).map(({ id }) => id)

export function AnalysisChecks(props: {
  analysis: Analysis
  consents: ReadonlySet<string>
  onConsents: (consents: ReadonlySet<string>) => void
}) {
  const { analysis, consents, onConsents } = props
  const of = (level: Check['level']) => analysis.checks.filter((check) => check.level === level)
  const toggle = (id: string, isGiven: boolean) =>
    onConsents(new Set(isGiven ? [...consents, id] : [...consents].filter((known) => known !== id)))
  return (
    <section aria-label="Analysis">
      {of('error').map((check) => (
        <Notice key={check.id} tone="bad">
          {checkText(check)}
        </Notice>
      ))}
      {of('warning').map((check) => (
        <Notice key={check.id} tone="warn">
          <label className={styles.check}>
            <input
              type="checkbox"
              checked={consents.has(check.id)}
              onChange={(event) => toggle(check.id, event.target.checked)}
            />
            <span>{checkText(check)} Run it all the same.</span>
          </label>
        </Notice>
      ))}
      {of('info').map((check) => (
        <p key={check.id} className={styles.help}>
          {checkText(check)}
        </p>
      ))}
    </section>
  )
}

const checkText = ({ message, line }: Check): string => {
  const place = line === undefined ? '' : `Line ${line}: `
  return `${place}${shownText(message)}${/[.!?]$/.test(message) ? '' : '.'}`
}
