// The one operation of STS that tells whose keys these are. It needs no permission, as at AWS.
import type { ProviderReply } from '../../provider.js'
import { AwsError, xmlReply } from './replies.js'
import type { Caller } from './signature.js'

export function answerSts(method: string, body: Buffer, { account, accessKeyId }: Caller): ProviderReply {
  const form = new URLSearchParams(method === 'POST' ? body.toString('utf8') : '')
  if (form.get('Action') !== 'GetCallerIdentity')
    throw new AwsError('MissingAction', 'This emulator knows only GetCallerIdentity, as a form sent with POST.')
  const identity = [
    `<Arn>arn:aws:iam::${account}:user/emulated</Arn>`,
    `<UserId>AIDA${accessKeyId.slice(4)}</UserId>`,
    `<Account>${account}</Account>`
  ].join('')
  return xmlReply(
    200,
    `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>${identity}</GetCallerIdentityResult><ResponseMetadata><RequestId>EMULATED</RequestId></ResponseMetadata></GetCallerIdentityResponse>`,
    { 'content-type': 'text/xml' }
  )
}
