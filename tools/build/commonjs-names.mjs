// The names that Node gives to each CommonJS file, for those that are bundled into a module.
import { fileURLToPath } from 'node:url'

export const __filename = fileURLToPath(import.meta.url)
export const __dirname = fileURLToPath(new URL('.', import.meta.url))
