// Tests that need an S3 server.
import { testWith } from '../needed-program.js'
import { s3Program } from './s3-server.js'

export const s3Test = testWith(s3Program, 'There is no S3 server: install versitygw, or Go to build it')
/** Whether the tests of a file run at all: a hook needs the server only then. */
export const hasS3Server = s3Program !== null
