// What each error code means to its reader. tools/errors-doc.mjs writes docs/errors.md from it, and a test keeps the
// two equal.
import type { ErrorCode } from './errors.js'

export interface ErrorGuide {
  means: string
  /** Who can fix it. */
  who: string
  check: string
}

export const errorGuide: Record<ErrorCode, ErrorGuide> = {
  unauthorized: {
    means:
      'There is no valid session, or the password is wrong. With an `Authorization` header: the scheme is not Bearer, or the API key is unknown, revoked or expired, or its creator has left the team.',
    who: 'caller',
    check:
      'Sign in again: a session expires after 7 idle days or 30 days in all, or when it is revoked. A `.netrc` entry for this host turns Bearer into Basic.'
  },
  permission_denied: {
    means:
      'The role of the member, or the tier or kind of the API key, does not allow this; or the request came from a browser page of another site.',
    who: "caller, or the team's owner",
    check:
      'Role in the team; tier and kind of the key. Behind a proxy: `PUBLIC_URL` must be the origin that browsers see.'
  },
  team_suspended: {
    means: 'The team is read-only; the body also has `"code": "TEAM_SUSPENDED"`.',
    who: 'support',
    check: 'The reason in the message, which `GET /api/teams` has too. Reads still work, and running jobs continue.'
  },
  not_found: {
    means:
      'It does not exist, or it belongs to a team that the caller is not a member of. Both cases return the same response.',
    who: 'caller',
    check: 'The id, and the teams in `GET /api/auth/session`.'
  },
  contents_removed: {
    means:
      'What was asked for is no longer kept: the team, or the platform, keeps it for a limited time after the end of a job. It cannot be brought back.',
    who: "the team's owner",
    check:
      '`removed` in the record of the job, and `GET /api/team/retention`. Results that have to last belong in a capsule.'
  },
  validation_error: {
    means: 'A field is missing, of the wrong type or outside its limits.',
    who: 'caller',
    check: 'The field that the message names.'
  },
  not_available: {
    means:
      'This version does not have the feature yet, or this service was started without it (credentials and webhooks need `SECRETS_KEYS`). The request is refused rather than partly ignored.',
    who: 'caller, or the operator',
    check: 'The message; `features` in `GET /api/meta`; docs/operations/configuration.md.'
  },
  payload_too_large: {
    means:
      'The body is above the limit of its route: 4 MiB for a submission, 2 MiB for the playground and for scripts, 64 MiB for an imported capsule, 512 KiB for one in YAML and for telemetry, 64 KiB elsewhere.',
    who: 'caller',
    check: 'What the body contains in addition to the circuit.'
  },
  unsupported_media_type: {
    means: 'The body is not `application/json`.',
    who: 'caller',
    check: 'The `Content-Type` header.'
  },
  conflict: {
    means:
      'The current state does not allow this: for example, the job has finished, the invitation was accepted, the team has other members, or the team has as many of these as it can.',
    who: 'caller',
    check: 'The state in the message.'
  },
  slug_conflict: {
    means: 'Another script of the team, or a template of the platform, has this slug.',
    who: 'caller',
    check: 'Choose another `slug`. docs/scripts.md.'
  },
  analysis_mismatch: {
    means:
      'The submission does not match its analysis: the script, its source, the team, the backend, the shots or the price have changed since, or the content sent is not the saved one.',
    who: 'caller',
    check: 'Read the script again, analyse it, and submit with the new `analysis_id`. docs/scripts.md.'
  },
  storage_limit_exceeded: {
    means:
      'The team stores as many bytes as it can, or this write would exceed that. The message and three figures (`used_bytes`, `limit_bytes`, `requested_bytes`) show by how much. Results of jobs that were accepted before are still stored.',
    who: 'caller, or a platform administrator',
    check:
      '`storage` in `GET /api/team/usage`. Deleting capsules and scripts frees bytes; `PUT /api/admin/teams/:id/storage` and `qjob admin storage` raise the limit. docs/limits.md.'
  },
  idempotency_conflict: {
    means: 'The `Idempotency-Key` was used before with another body, method or path. Nothing was done.',
    who: 'caller',
    check: 'Use a new key for every new request, and repeat a request byte for byte. docs/idempotency.md.'
  },
  request_under_way: {
    means:
      'A request with the same `Idempotency-Key` is still in progress. This request waited ten seconds for it, or too many others were already waiting; it did nothing.',
    who: 'caller, later',
    check: 'Send the same request with the same key again after `Retry-After` seconds.'
  },
  service_busy: {
    means:
      'Too many large responses, packages or bodies are being sent or read at once, or too many of this caller; or more passwords are being checked than this process has room for. Nothing was done.',
    who: 'caller, later',
    check:
      'Send the same request again after `Retry-After` seconds, and read responses to their end. docs/limits.md. If it lasts at sign-in: who sends the requests to `/api/auth`.'
  },
  database_unavailable: {
    means:
      'The database of the service does not respond, or takes no work: it restarts, or another server takes over. Accepted jobs wait. A write may have been stored although this response says nothing of it.',
    who: 'caller later, operator',
    check:
      'Send the same request again after `Retry-After` seconds, with the same `Idempotency-Key`. If it lasts: `GET /readyz`, and `DATABASE_URL` of the api.'
  },
  content_store_unavailable: {
    means:
      'The store of large contents (`CONTENT_STORE`) does not respond, or refuses the service. Nothing is lost: the result or file is sent once the store responds.',
    who: 'caller later, operator',
    check:
      'Send the same request again after `Retry-After` seconds. If it lasts: the error of `contents` in `GET /api/admin/system`, and docs/operations/deployment/content-store.md.'
  },
  storage_full: {
    means:
      'The disk of the service is full, so nothing was stored. Reads still work, and accepted jobs wait until there is space.',
    who: 'operator',
    check: '`GET /readyz` names the disk. Send the same request again after `Retry-After` seconds.'
  },
  budget_exceeded: {
    means:
      'The estimate exceeds what is left of a limit. The message and four figures show which limit and by how much.',
    who: "the team's owner",
    check:
      '`GET /api/team/budget`. Limits rise to the ceilings by `PATCH /api/team/budget`, ceilings by a platform administrator.'
  },
  spend_limit_exceeded: {
    means:
      "The estimate exceeds what is left of the API key's own daily limit. The message and four figures show by how much.",
    who: "the team's owner or admins",
    check: '`GET /api/team/api-keys`. Use a key with a higher limit, or wait for the next UTC day.'
  },
  backend_unknown: {
    means: 'No backend has this slug. Job: the backend was removed from the catalogue after the submission.',
    who: 'caller',
    check: '`GET /api/backends`.'
  },
  backend_retired: {
    means: 'Its provider has taken the device out of service.',
    who: 'caller',
    check: 'Use another backend of the same kind.'
  },
  backend_unavailable: {
    means: 'The backend is offline, in maintenance, or not served by this version.',
    who: 'caller, later',
    check: '`status` and `isAvailable` in `GET /api/backends`.'
  },
  provider_refused: {
    means:
      "Job: the provider did not accept the task, because the team's credentials are wrong or it refuses the program. Nothing was spent.",
    who: "caller, or the team's owner",
    check: "The provider's text in the message, and the team's credentials for that provider."
  },
  provider_failed: {
    means: 'Job: the provider accepted the task and could not run it.',
    who: 'caller',
    check: "The provider's text in the message. `actual_cost_usd` shows what the provider charged."
  },
  provider_unreachable: {
    means: 'Job: the provider could not be reached for 24 hours. Nothing was sent.',
    who: 'caller, later',
    check: 'The status page of the provider, and whether the worker can reach the internet.'
  },
  provider_outcome_unknown: {
    means:
      'Job: a paid task may have run at the provider, and the service could not find out how it ended. Its reservation stays held.',
    who: 'platform administrator',
    check:
      "The provider's own console. The service keeps querying the provider for 30 days; `GET /api/admin/money` lists held reservations."
  },
  price_changed: {
    means:
      'Job: the price rose above the reservation before the job began, or before its circuit was sent to a device that is billed by time. Nothing was spent.',
    who: 'caller',
    check: 'Look up the new price, and submit again to accept it.'
  },
  language_not_detected: {
    means:
      'Playground with `language: "auto"`: the code imports no known framework, or several. Job: the same of a submission without `framework` whose text mentions a framework, which only the executor can decide.',
    who: 'caller',
    check: 'The imports that the message lists; name the language, or import the framework you use.'
  },
  execution_error: {
    means: "Job or playground: the user's code or circuit failed, or exceeded its time or memory limit.",
    who: 'caller',
    check:
      'The message, with the line where it is known; `timeout_seconds` for a time limit, which is 60 s in the playground.'
  },
  unsupported_operation: {
    means: 'Job or playground: the backend cannot run an operation faithfully.',
    who: 'caller',
    check: 'The operation, qubit and line in the message; or use another backend.'
  },
  rate_limited: {
    means:
      'There were too many requests of this kind within a minute (or day), or two playground runs of the same user are in progress, or the executor has no free slot.',
    who: 'caller, later',
    check: 'The `Retry-After` header, in seconds. docs/limits.md lists the limits.'
  },
  worker_unreachable: {
    means: 'Playground: the executor is down, disappeared during the run, or did not respond within 90 seconds.',
    who: 'caller later, operator',
    check: "`GET /readyz`, then the executor's log."
  },
  worker_not_configured: {
    means: 'Playground: the API has no executor configured, or the executor has no isolation available for its runs.',
    who: 'operator',
    check: "`EXECUTOR_URL` and `EXECUTOR_TOKEN` of the API; the executor's `/health`."
  },
  execution_service_lost: {
    means:
      'Job: the executor disappeared during the run; in temporal mode, three times. Or it failed three times at this job before it began, and served others meanwhile.',
    who: 'operator',
    check: "The executor's log and memory. A direct job is not run twice: submit it again."
  },
  executor_shut_down: {
    means:
      'Job: the executor was stopped during the run, and the run did not finish in the time for that. In temporal mode it is run again, without counting as an attempt.',
    who: 'caller, operator',
    check: 'A direct job is not run twice: submit it again. `EXECUTOR_DRAIN_SECONDS` of the executor.'
  },
  worker_lost: {
    means: 'Job: the worker of a direct job died; the job is not run twice.',
    who: 'caller, operator',
    check: 'Submit again, or use `execution_mode: "temporal"`. The worker\'s log at the time.'
  },
  dispatch_failed: {
    means: 'Job: Redis or Temporal could not be reached for the whole dispatch deadline (15 minutes).',
    who: 'operator',
    check: '`GET /readyz`, then the component that it shows as degraded.'
  },
  internal_error: {
    means: 'The service has a fault. Job: its workflow was lost six times.',
    who: 'operator',
    check: "The log entry of the `X-Request-Id`. Job: the workflow's history in the Temporal UI."
  }
}
