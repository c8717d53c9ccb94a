/** Who owns or saved something, without a further request for names. @param id `null` for templates and deleted accounts. */
export const personText = (id: string | null, own: string | undefined): string =>
  id === null ? '–' : id === own ? 'you' : 'someone else'
