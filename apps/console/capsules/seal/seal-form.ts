import { numberOf } from '../../text/number-of.js'

export interface SealForm {
  exitCode: string
  exitMessage: string
  margin: string
}

/** A seal is final, so what is no number is sent as it was typed, an emptied field too, for the service to refuse. */
export const sealBody = ({ exitCode, exitMessage, margin }: SealForm) => ({
  exit_code: numberOf(exitCode),
  ...(exitMessage !== '' && { exit_message: exitMessage }),
  ...(margin.trim() !== '' && { margin: numberOf(margin) })
})
