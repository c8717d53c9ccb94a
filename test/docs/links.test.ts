// Links to a place within a page lead to a heading of that page. That the page is there, test/tidy.test.ts checks.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { pages } from './blocks.js'

/** Without code blocks, whose lines can look like headings and links. */
const proseOf = (page: string): string =>
  readFileSync(join(projectRoot, page), 'utf8').replaceAll(/^( *)(```+|~~~+)[\s\S]*?^\1\2$/gm, '')

/** The anchors that GitHub gives the headings of a page: of equal ones, the later ones are numbered. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading] of proseOf(page).matchAll(/^#{1,6} +(.+)$/gm)) {
    const words = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = words.replaceAll(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-')
    let number = 0
    while (anchors.has(number === 0 ? anchor : `${anchor}-${number}`)) number++
    anchors.add(number === 0 ? anchor : `${anchor}-${number}`)
  }
  return anchors
}

test('every link to a place within a page leads to a heading', () => {
  const links = [...pages, 'CHANGELOG.md'].flatMap((page) =>
    [...proseOf(page).matchAll(/\]\((?!\w+:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, target, anchor]) => ({
      page,
      to: target ? join(dirname(page), target) : page,
      anchor: anchor!
    }))
  )
  expect(links.length).toBeGreaterThan(100)
  const lost = links.filter(({ to, anchor }) => to.endsWith('.md') && !anchorsOf(to).has(anchor))
  expect(lost).toEqual([])
})
