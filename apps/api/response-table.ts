// What every route answers. A route that is not here makes the document fail, and with it the tests.
import { accountResponses } from './accounts/responses.js'
import { administrationResponses } from './admin/responses.js'
import { capsuleResponses } from './capsules/responses.js'
import { capsuleRunResponses } from './capsules/run-responses.js'
import { capsuleScheduleResponses } from './capsules/schedule-responses.js'
import { capsuleTransferResponses } from './capsules/transfer/responses.js'
import { errorSchemas } from './http/error-responses.js'
import type { ResponseSet } from './http/response-schema.js'
import { jobResponses } from './jobs/responses.js'
import { playgroundResponses } from './playground/responses.js'
import { scriptResponses } from './scripts/responses.js'
import { backendResponses } from './service/backend-responses.js'
import { serviceResponses } from './service/responses.js'
import { auditResponses } from './teams/audit-responses.js'
import { teamResponses } from './teams/responses.js'
import { teamSettingResponses } from './teams/setting-responses.js'

const sets = [
  serviceResponses,
  backendResponses,
  accountResponses,
  teamResponses,
  teamSettingResponses,
  jobResponses,
  playgroundResponses,
  scriptResponses,
  capsuleResponses,
  capsuleRunResponses,
  capsuleScheduleResponses,
  capsuleTransferResponses,
  auditResponses,
  administrationResponses
]

export const answerTable: ResponseSet['answers'] = Object.assign({}, ...sets.map(({ answers }) => answers))
export const answerSchemas: ResponseSet['schemas'] = Object.assign(
  {},
  errorSchemas,
  ...sets.map(({ schemas }) => schemas)
)
