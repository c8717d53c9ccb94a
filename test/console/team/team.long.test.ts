// The pages of teams and accounts in a real browser, against the real platform.
import { describe } from '@jest/globals'
import { allowedTests } from './allowed.js'
import { figureTests } from './figures.js'
import { onceTests } from './once.js'
import { outsideTests } from './outside.js'
import { pageTests } from './pages.js'
import { startTeamStage } from './stage.js'
import { togetherTests } from './together.js'

const stage = startTeamStage('console_team')

describe('what may be pressed', () => allowedTests(stage))
describe('what is shown once', () => onceTests(stage))
describe('two people at once', () => togetherTests(stage))
describe('figures', () => figureTests(stage))
describe('what leaves the service', () => outsideTests(stage))
describe('every page', () => pageTests(stage))
