// Commands that ask the service with the session of a platform administrator, and so work from any machine.
import type { Command } from 'commander'
import type { ApiClient } from '../../session/api-client.js'
import { accountCommand, type ServiceOptions, withSession } from '../../session/service-command.js'
import { CliError } from '../../terminal/cli-error.js'

const help = '\nUses your session at the service: be signed in as a platform administrator (qjob admin grant EMAIL).'

export const administratorCommand = (admin: Command, usage: string, description: string): Command =>
  accountCommand(admin, usage, description).addHelpText('after', help)

/** Runs a command's work with the saved session. The service hides these routes from everyone else; qjob says so. */
export const withAdministrator = (options: ServiceOptions, work: (api: ApiClient) => Promise<void>): Promise<void> =>
  withSession(options, async (api) => {
    try {
      await work(api)
    } catch (error) {
      if (!(error instanceof CliError && error.details.status === 404 && error.message.startsWith('no route ')))
        throw error
      throw new CliError(
        'refused',
        'only platform administrators can do this: qjob admin grant EMAIL makes a user one',
        error.details
      )
    }
  })
