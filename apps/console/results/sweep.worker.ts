import { serveSweep } from './sweep-messages.js'

serveSweep(globalThis as never)
