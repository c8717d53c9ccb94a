// Where a command lies, as the shell would find it.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The absolute path of an executable file on PATH, or null. */
export function onPath(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (!folder) continue
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      if (statSync(file).isFile()) return file
    } catch {
      // Not here: the next folder may have it.
    }
  }
  return null
}
