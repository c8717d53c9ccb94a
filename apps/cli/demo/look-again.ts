// What the demo prints at its end: how to look at its jobs and its capsule, which stay in its data folder.

export interface DemoAccount {
  email: string
  password: string
}

/** @param url the address that the stopped stack had; with its port, the addresses that the demo printed are true again. */
export function howToLookAgain(url: string, folder: string, { email, password }: DemoAccount): string {
  return [
    'To look at these jobs and the capsule in the web console and in the Temporal UI:',
    `    DATA_DIR=${shellWord(folder)} PORT=${new URL(url).port} npm start`,
    `    open ${url}/jobs`,
    `    sign in as ${email} with the password ${password}`
  ].join('\n')
}

/** The text as one word of a shell. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
