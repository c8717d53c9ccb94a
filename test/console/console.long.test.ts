// What the console does while things change, are refused or go wrong, and what it draws, in a real browser.
import { describe } from '@jest/globals'
import { faultTests } from './faults.js'
import { liveTests } from './live.js'
import { pictureTests } from './pictures.js'
import { refusalTests } from './refusals.js'
import { sceneOfFile } from './scene.js'
import { submitFormTests } from './submit-form.js'

const scene = sceneOfFile()

describe('what changes', () => liveTests(scene))
describe('pictures', () => pictureTests(scene))
describe('refusals', () => refusalTests(scene))
describe('the form for a job', () => submitFormTests(scene))
describe('what goes wrong', () => faultTests(scene))
