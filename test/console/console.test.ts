// The console in a real browser, against the real platform. All of its tests share one platform and one browser.
import { afterAll, beforeAll, describe } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { browserPath } from '../support/browser/browser-test.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'
import { accountTests } from './accounts.js'
import { capsuleTests } from './capsules/walk.js'
import { faultTests } from './faults.js'
import { jobTests } from './jobs.js'
import { keyboardTests } from './keyboard.js'
import { liveTests } from './live.js'
import { pictureTests } from './pictures.js'
import { playgroundTests } from './playground.js'
import { refusalTests } from './refusals.js'
import { createScene, signing } from './scene.js'

let platform: Platform
let browser: Browser

beforeAll(async () => {
  if (browserPath === null) return
  const { chromium } = await import('playwright-core')
  ;[platform, browser] = await Promise.all([
    startPlatform('console', {}, signing),
    chromium.launch({ executablePath: browserPath, args: ['--disable-dev-shm-usage'] })
  ])
}, 60_000)

afterAll(async () => {
  await browser?.close()
  await platform?.close()
})

const scene = createScene(() => ({ platform, browser }))

describe('accounts', () => accountTests(scene))
describe('jobs', () => jobTests(scene))
describe('capsules', () => capsuleTests(scene))
describe('what changes', () => liveTests(scene))
describe('pictures', () => pictureTests(scene))
describe('refusals', () => refusalTests(scene))
describe('the playground', () => playgroundTests(scene))
describe('the keyboard', () => keyboardTests(scene))
describe('what goes wrong', () => faultTests(scene))
