import { type ReactNode, Suspense } from 'react'
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components'
import layout from './layout.module.css'
import { Loading } from './notice.js'
import styles from './parts.module.css'

/**
 * The parts of a record's page, of which one is shown.
 * @param texts the name of each part.
 * @param panels what each part shows; one that is loaded later may suspend.
 */
export function Parts<Part extends string>({
  label,
  texts,
  panels,
  shown,
  onShow
}: {
  label: string
  texts: Readonly<Record<Part, string>>
  panels: Readonly<Record<Part, ReactNode>>
  shown: Part
  onShow: (part: Part) => void
}) {
  const parts = Object.keys(texts) as Part[]
  return (
    <Tabs selectedKey={shown} onSelectionChange={(key) => onShow(key as Part)}>
      <TabList className={styles.tabs!} aria-label={label}>
        {parts.map((part) => (
          <Tab key={part} id={part} className={styles.tab!}>
            {texts[part]}
          </Tab>
        ))}
      </TabList>
      {parts.map((part) => (
        <TabPanel key={part} id={part} className={layout.panel!}>
          <Suspense fallback={<Loading />}>{panels[part]}</Suspense>
        </TabPanel>
      ))}
    </Tabs>
  )
}
