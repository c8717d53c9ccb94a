// Capsules in the console, in a real browser against the real scene.platform.
import { describe } from '@jest/globals'
import { sceneOfFile, signing } from '../scene.js'
import { actionTests } from './actions.js'
import { hostileTests } from './hostile.js'
import { pageTests } from './pages.js'
import { publicTests } from './public.js'
import { fileTests } from './sending-files.js'
import { typedTests } from './typed.js'

const scene = sceneOfFile({}, signing)

describe('what may be done with a capsule', () => actionTests(scene))
describe('the pages of capsules', () => pageTests(scene))
describe('what is typed into final dialogs', () => typedTests(scene))
describe('a file', () => fileTests(scene))
describe('texts of others', () => hostileTests(scene))
describe('the public page', () => publicTests(scene))
