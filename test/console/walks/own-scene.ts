// A scene for a file of browser tests that needs a platform of its own.
import { afterAll, beforeAll } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { browserPath } from '../../support/browser/browser-test.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'
import { createScene, type Scene } from '../scene.js'

/** Declares its start and its end. @param file names the platform's database. */
export function ownScene(file: string): Scene {
  let platform: Platform
  let browser: Browser
  beforeAll(async () => {
    if (browserPath === null) return
    const { chromium } = await import('playwright-core')
    ;[platform, browser] = await Promise.all([
      startPlatform(file),
      chromium.launch({ executablePath: browserPath, args: ['--disable-dev-shm-usage'] })
    ])
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.close()
  })
  return createScene(() => ({ platform, browser }))
}
