// Programs of the tests that most systems package: on PATH, else from the distribution when that can be done without asking.
import { canInstallPackages, installPackage } from './apt.mjs'
import { onPath } from './on-path.mjs'
import { step } from './progress.mjs'

/** @param program that the package of the same name holds. @returns its path. */
export async function findProgram(program, logs) {
  const found = onPath(program)
  if (found) return found
  if (canInstallPackages()) {
    await step(`${program} (apt-get install ${program})`, () => installPackage(program, logs))
    const installed = onPath(program)
    if (installed) return installed
  }
  throw new Error(`${program} is missing: install it (Debian, Ubuntu: \`apt-get install ${program}\`)`)
}
