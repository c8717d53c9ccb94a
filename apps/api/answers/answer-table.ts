// What every route answers. A route that is not here makes the document fail, and with it the tests.
import { accountAnswers } from './accounts.js'
import { administrationAnswers } from './administration.js'
import { auditAnswers } from './audit.js'
import { backendAnswers } from './backends.js'
import { capsuleRunAnswers } from './capsule-runs.js'
import { capsuleScheduleAnswers } from './capsule-schedules.js'
import { capsuleTransferAnswers } from './capsule-transfer.js'
import { capsuleAnswers } from './capsules.js'
import { errorSchemas } from './errors.js'
import { jobAnswers } from './jobs.js'
import { playgroundAnswers } from './playground.js'
import type { AnswerSet } from './schema.js'
import { scriptAnswers } from './scripts.js'
import { serviceAnswers } from './service.js'
import { teamSettingAnswers } from './team-settings.js'
import { teamAnswers } from './teams.js'

const sets = [
  serviceAnswers,
  backendAnswers,
  accountAnswers,
  teamAnswers,
  teamSettingAnswers,
  jobAnswers,
  playgroundAnswers,
  scriptAnswers,
  capsuleAnswers,
  capsuleRunAnswers,
  capsuleScheduleAnswers,
  capsuleTransferAnswers,
  auditAnswers,
  administrationAnswers
]

export const answerTable: AnswerSet['answers'] = Object.assign({}, ...sets.map(({ answers }) => answers))
export const answerSchemas: AnswerSet['schemas'] = Object.assign(
  {},
  errorSchemas,
  ...sets.map(({ schemas }) => schemas)
)
