// Where the evidence of a task lies in a capsule.

/** The names that are written as they are. None of them begins with the mark of the others. */
const plainName = /^[A-Za-z0-9_-](?:[A-Za-z0-9 _.-]*[A-Za-z0-9_-])?$/
/** File systems allow 255 bytes. */
const FOLDER_CHARACTERS_MAX = 240

/**
 * The folder of a task's evidence. Two names never share one, and none leads elsewhere once it is unpacked or decoded:
 * in other than plain names, each byte of UTF-8 that is no letter, digit, `_` or `-` is `~` and its two hex digits.
 */
export const evidenceFolder = (task: string): string => `tasks/${folderName(task)}`

/** Whether a folder can have the name. */
export const hasFolder = (task: string): boolean => folderName(task).length <= FOLDER_CHARACTERS_MAX

function folderName(task: string): string {
  if (plainName.test(task)) return task
  const escaped = [...new TextEncoder().encode(task)].map((byte) => {
    const character = String.fromCharCode(byte)
    return /[A-Za-z0-9_-]/.test(character) ? character : `~${byte.toString(16).toUpperCase().padStart(2, '0')}`
  })
  return `~${escaped.join('')}`
}
