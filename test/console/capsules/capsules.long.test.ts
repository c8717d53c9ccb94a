// Capsules in the console, in a real browser against the real platform.
import { afterAll, beforeAll, describe } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { browserPath } from '../../support/browser/browser-test.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'
import { createScene, signing } from '../scene.js'
import { actionTests } from './actions.js'
import { hostileTests } from './hostile.js'
import { pageTests } from './pages.js'
import { publicTests } from './public.js'

let platform: Platform
let browser: Browser

beforeAll(async () => {
  if (browserPath === null) return
  const { chromium } = await import('playwright-core')
  ;[platform, browser] = await Promise.all([
    startPlatform('console_capsules', {}, signing),
    chromium.launch({ executablePath: browserPath, args: ['--disable-dev-shm-usage'] })
  ])
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await platform?.close()
})

const scene = createScene(() => ({ platform, browser }))

describe('what may be done with a capsule', () => actionTests(scene))
describe('the pages of capsules', () => pageTests(scene))
describe('texts of others', () => hostileTests(scene))
describe('the public page', () => publicTests(scene))
