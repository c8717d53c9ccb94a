// What runs in a judging thread (judge-pool.ts). Bundled as a program of its own, since a thread begins at a file.
import { answerInThread } from './thread-program.js'
import { verify } from './verify.js'

answerInThread(verify)
