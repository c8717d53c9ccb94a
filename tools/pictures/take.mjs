// Opens each page in Chromium, light and dark, and writes what it shows as small pictures.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { say } from '../bootstrap/progress.mjs'
import { palettePng } from './palette-png.mjs'

const VIEW = { width: 1200, height: 760 }
/** Of all pictures together: the repository keeps every version of them. */
const BYTES_MAX = 1_000_000
export const themes = ['light', 'dark']

/** @param ready a text of the page once it is drawn. */
const pagesOf = ({ team, jobs, capsule, slug }) => [
  {
    name: 'playground',
    path: '/run',
    who: 'owner',
    ready: 'Run',
    height: 900,
    press: 'Run',
    until: 'Qubit 0 leftmost'
  },
  { name: 'jobs', path: `/jobs?team=${team}`, who: 'owner', ready: 'Bell pair on hardware' },
  { name: 'job', path: `/jobs/${jobs.bell}?team=${team}`, who: 'owner', ready: 'Qubit 0 leftmost', height: 960 },
  { name: 'job-sweep', path: `/jobs/${jobs.sweep}?team=${team}`, who: 'owner', ready: 'Against theta', height: 1240 },
  {
    name: 'job-graph',
    path: `/jobs/${jobs.graph}?team=${team}&tab=tasks`,
    who: 'owner',
    ready: 'Task graph',
    height: 1080
  },
  {
    name: 'compare',
    path: `/jobs/compare?a=${jobs.bell}&b=${jobs.other}&team=${team}`,
    who: 'owner',
    ready: 'Qubit 0 leftmost'
  },
  { name: 'backends', path: '/backends', who: 'owner', ready: 'Quantum computers' },
  { name: 'capsules', path: `/capsules?team=${team}`, who: 'owner', ready: 'A Bell pair' },
  { name: 'capsule', path: `/capsules/${capsule}?team=${team}`, who: 'owner', ready: 'A Bell pair' },
  { name: 'public-capsule', path: `/public/${slug}`, who: 'visitor', ready: 'A Bell pair' },
  { name: 'budget', path: `/team/budget?team=${team}`, who: 'owner', ready: 'budget' },
  {
    name: 'audit',
    path: `/audit?team=${team}`,
    who: 'owner',
    ready: 'entries are read',
    press: 'Prove it',
    until: 'The trail holds'
  },
  { name: 'admin-system', path: '/admin/system', who: 'admin', ready: 'database' },
  { name: 'admin-team', path: `/admin/teams/${team}`, who: 'admin', ready: 'Budget' }
]

/** Pages that this version does not have are left out. */
export async function takePictures({ url, filled, target, browser: executablePath, only }) {
  const browser = await chromium.launch({ executablePath, args: ['--disable-dev-shm-usage'] })
  let bytes = 0
  try {
    for (const one of pagesOf(filled)) {
      if (only.length > 0 && !only.some((word) => one.name.includes(word))) continue
      for (const theme of themes) {
        const picture = await pictureOf(browser, { url, one, theme, cookie: filled[one.who] })
        if (picture === null) {
          say(`no page ${one.path}`)
          break
        }
        bytes += picture.length
        const file = join(target, theme, `${one.name}.png`)
        writeFileSync(file, picture)
        say(`${theme}/${one.name}.png  ${Math.round(picture.length / 1024)} KB`)
      }
    }
  } finally {
    await browser.close()
  }
  if (bytes > BYTES_MAX) throw new Error(`the pictures have ${bytes} bytes, more than ${BYTES_MAX}`)
}

async function pictureOf(browser, { url, one, theme, cookie }) {
  const context = await browser.newContext({
    viewport: { ...VIEW, ...(one.height && { height: one.height }) },
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
    // The page's own code is what reads the picture's points below; its policy would refuse that.
    bypassCSP: true
  })
  try {
    if (cookie) {
      const [name, ...value] = cookie.split('=')
      await context.addCookies([{ name, value: value.join('='), url }])
    }
    const page = await context.newPage()
    await page.goto(`${url}${one.path}`)
    const missing = page.getByRole('heading', { name: 'There is no page at this address' })
    const shown = page.getByText(one.ready).filter({ visible: true }).first()
    await missing.or(shown).first().waitFor({ timeout: 60_000 })
    if (await missing.isVisible()) return null
    if (one.press) {
      await page.getByRole('button', { name: one.press }).click()
      await page.getByText(one.until).filter({ visible: true }).first().waitFor()
    }
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => {})
    const png = await page.screenshot()
    return palettePng(await pointsOf(page, png))
  } finally {
    await context.close()
  }
}

/** The points of a picture, which the browser decodes: four bytes each. */
async function pointsOf(page, png) {
  const { width, height, data } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
    const context = canvas.getContext('2d')
    context.drawImage(bitmap, 0, 0)
    const points = context.getImageData(0, 0, bitmap.width, bitmap.height).data
    let text = ''
    for (let at = 0; at < points.length; at += 30_000) text += String.fromCharCode(...points.subarray(at, at + 30_000))
    return { width: bitmap.width, height: bitmap.height, data: btoa(text) }
  }, png.toString('base64'))
  return { width, height, points: Buffer.from(data, 'base64') }
}
