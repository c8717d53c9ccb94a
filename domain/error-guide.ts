// What each code of the catalogue means to people: docs/errors.md is written from it (tools/errors-doc.mjs), and a test keeps
// the two alike.
import type { ErrorCode } from './errors.js'

export interface ErrorGuide {
  means: string
  /** Who can mend it. */
  who: string
  check: string
}

export const errorGuide: Record<ErrorCode, ErrorGuide> = {
  unauthorized: {
    means:
      'No valid session, or a wrong password. With an `Authorization` header: not a Bearer scheme, or an API key that is unknown, revoked, expired, or whose creator left the team.',
    who: 'caller',
    check:
      'Sign in again: a session ends after 7 idle days, 30 days in all, or when it is ended. A `.netrc` entry for this host turns Bearer into Basic.'
  },
  permission_denied: {
    means:
      'A member without the right, an API key whose tier or kind does not reach, or a browser page of another site.',
    who: "caller, or the team's owner",
    check:
      'Role in the team; tier and kind of the key. Behind a proxy: `PUBLIC_URL` must be the origin that browsers see.'
  },
  team_suspended: {
    means: 'The team is read-only; the body also has `"code": "TEAM_SUSPENDED"`.',
    who: 'support',
    check: 'Why a platform administrator has suspended the team. Reads and running jobs go on.'
  },
  not_found: {
    means: 'It does not exist, or it belongs to a team of others; both answer alike.',
    who: 'caller',
    check: 'The id, and the teams in `GET /api/auth/session`.'
  },
  validation_error: {
    means: 'A field is missing, of the wrong type or outside its limits.',
    who: 'caller',
    check: 'The field that the message names.'
  },
  not_available: {
    means:
      'A feature of the interface that this version does not have yet, or that this service was started without (credentials and webhooks need `SECRETS_KEYS`). It is refused rather than ignored.',
    who: 'caller, or the operator',
    check: 'The message; `features` in `GET /api/meta`; docs/operations/configuration.md.'
  },
  payload_too_large: {
    means:
      'The body is above the limit of its route: 4 MiB for a submission, 2 MiB in the playground, 64 KiB elsewhere.',
    who: 'caller',
    check: 'What the body holds beside the circuit.'
  },
  unsupported_media_type: {
    means: 'The body is no `application/json`.',
    who: 'caller',
    check: 'The `Content-Type` header.'
  },
  conflict: {
    means:
      'The thing is no longer in a state that allows this: a job that is over, an invitation that was accepted, a team with other members, a limit of its number.',
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
      'What is submitted or analysed is not what it is said to be: the script, its source, the team, the backend, the shots or the price have changed since the analysis, or the content sent is not the one that is saved.',
    who: 'caller',
    check: 'Read the script anew, analyse it again, and submit with the new `analysis_id`. docs/scripts.md.'
  },
  idempotency_conflict: {
    means: 'The `Idempotency-Key` was used before, for another body, method or path. Nothing was done.',
    who: 'caller',
    check: 'That every new request gets a new key, and a repeated one is sent byte for byte. docs/idempotency.md.'
  },
  request_under_way: {
    means:
      'A request with the same `Idempotency-Key` is still being worked on, after ten seconds of waiting for it or because too many wait already. This one did nothing.',
    who: 'caller, later',
    check: 'Send the same request with the same key again after `Retry-After` seconds.'
  },
  budget_exceeded: {
    means: 'The estimate is above what is left of a limit. The message and four figures say which and by how much.',
    who: "the team's owner",
    check:
      '`GET /api/team/budget`. Limits rise to the ceilings by `PATCH /api/team/budget`, ceilings by a platform administrator.'
  },
  spend_limit_exceeded: {
    means:
      "The estimate is above what is left of the API key's own daily limit. The message and four figures say by how much.",
    who: "the team's owner or admins",
    check: '`GET /api/team/api-keys`; a key with a higher limit, or tomorrow (days are UTC).'
  },
  backend_unknown: {
    means: 'No backend has that slug. Job: it was taken from the catalogue after the submission.',
    who: 'caller',
    check: '`GET /api/backends`.'
  },
  backend_retired: {
    means: 'Its provider has taken the device out of service.',
    who: 'caller',
    check: 'Another backend of the same kind.'
  },
  backend_unavailable: {
    means: 'The backend is offline, in maintenance, or not served by this version.',
    who: 'caller, later',
    check: '`status` and `isAvailable` in `GET /api/backends`.'
  },
  provider_refused: {
    means:
      "Job: the provider did not accept the task: the team's credentials are wrong, or it refuses the program. Nothing was spent.",
    who: "caller, or the team's owner",
    check: "The provider's words in the message; the team's credentials of that provider."
  },
  provider_failed: {
    means: 'Job: the provider accepted the task and could not run it.',
    who: 'caller',
    check: "The provider's words in the message. What it charged stands in `actual_cost_usd`."
  },
  provider_unreachable: {
    means: 'Job: the provider could not be reached for 24 hours. Nothing was sent.',
    who: 'caller, later',
    check: 'The status page of the provider; whether the worker may reach the internet.'
  },
  provider_outcome_unknown: {
    means:
      'Job: a paid task may have run at the provider, and how it ended could not be found out. What was reserved for it stays reserved.',
    who: 'platform administrator',
    check:
      "The provider's own console. The service goes on asking for 30 days; `GET /api/admin/money` lists what is held."
  },
  price_changed: {
    means: 'Job: its price rose between submission and start above what was reserved. Nothing was spent.',
    who: 'caller',
    check: 'The new price; submit again to accept it.'
  },
  language_not_detected: {
    means: 'Playground with `language: "auto"`: the code imports no framework that is known, or several.',
    who: 'caller',
    check: 'The imports that the message lists; name the language, or import the framework you use.'
  },
  execution_error: {
    means: "Job or playground: the user's own code or circuit failed, or went past its time or memory.",
    who: 'caller',
    check:
      'The message, with the line where it is known; `timeout_seconds` for a time limit, which is 60 s in the playground.'
  },
  unsupported_operation: {
    means: 'Job or playground: an operation that the backend cannot run faithfully.',
    who: 'caller',
    check: 'The operation, qubit and line in the message; another backend.'
  },
  rate_limited: {
    means:
      'Too many requests of this kind within a minute (or day); or two playground runs of the same user are under way; or the executor has no place left for another.',
    who: 'caller, later',
    check: 'The `Retry-After` header, in seconds. docs/limits.md lists the limits.'
  },
  worker_unreachable: {
    means: 'Playground: the executor is down, went away in the middle of the run, or did not answer within 90 seconds.',
    who: 'caller later, operator',
    check: "`GET /readyz`, then the executor's log."
  },
  worker_not_configured: {
    means: 'Playground: the api knows no executor, or the executor found no isolation for its runs.',
    who: 'operator',
    check: "`EXECUTOR_URL` and `EXECUTOR_TOKEN` of the api; the executor's `/health`."
  },
  execution_service_lost: {
    means: 'Job: the executor went away in the middle of a run, in temporal mode three times.',
    who: 'operator',
    check: "The executor's log and memory. In direct mode nothing is run twice: submit again."
  },
  worker_lost: {
    means: 'Job: the worker of a direct job died; the job is not run twice.',
    who: 'caller, operator',
    check: 'Submit again, or use `execution_mode: "temporal"`. The worker\'s log at the time.'
  },
  dispatch_failed: {
    means: 'Job: Redis or Temporal could not be reached for the whole dispatch deadline (15 minutes).',
    who: 'operator',
    check: '`GET /readyz`, then the part that it shows as degraded.'
  },
  internal_error: {
    means: 'A fault of the service. Job: its workflow was lost six times.',
    who: 'operator',
    check: "The log entry of the `X-Request-Id`. Job: the workflow's history in the Temporal UI."
  }
}
