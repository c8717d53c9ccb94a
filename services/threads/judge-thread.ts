// What a judging thread runs (judge-pool.ts). Bundled as a program of its own, since a thread starts from a file.
import { threadProgram } from './thread-program.js'
import { verify } from './verify.js'

export default threadProgram(verify)
