// What every route answers. A route that is not here makes the document fail, and with it the tests.
import { accountAnswers } from './accounts/responses.js'
import { administrationAnswers } from './admin/responses.js'
import { capsuleAnswers } from './capsules/responses.js'
import { capsuleRunAnswers } from './capsules/run-responses.js'
import { capsuleScheduleAnswers } from './capsules/schedule-responses.js'
import { capsuleTransferAnswers } from './capsules/transfer/responses.js'
import { errorSchemas } from './http/error-responses.js'
import type { AnswerSet } from './http/response-schema.js'
import { jobAnswers } from './jobs/responses.js'
import { playgroundAnswers } from './playground/responses.js'
import { scriptAnswers } from './scripts/responses.js'
import { backendAnswers } from './service/backend-responses.js'
import { serviceAnswers } from './service/responses.js'
import { auditAnswers } from './teams/audit-responses.js'
import { teamAnswers } from './teams/responses.js'
import { teamSettingAnswers } from './teams/setting-responses.js'

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
