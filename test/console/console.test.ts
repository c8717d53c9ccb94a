// The console in a real browser, against the real platform. All of its tests share one platform and one browser.
import { describe } from '@jest/globals'
import { accountTests } from './accounts.js'
import { adminTests } from './admin/admin.js'
import { capsuleTests } from './capsules/walk.js'
import { jobTests } from './jobs.js'
import { keyboardTests } from './keyboard.js'
import { playgroundTests } from './playground.js'
import { sceneOfFile, signing } from './scene.js'
import { scriptTests } from './scripts/walk.js'
import { teamWalk } from './team/walk.js'

const scene = sceneOfFile({}, signing)

describe('accounts', () => accountTests(scene))
describe('jobs', () => jobTests(scene))
describe('scripts', () => scriptTests(scene))
describe('capsules', () => capsuleTests(scene))
describe('the playground', () => playgroundTests(scene))
describe('teams', () => teamWalk(scene))
describe('the keyboard', () => keyboardTests(scene))
describe('administration', () => adminTests(scene))
