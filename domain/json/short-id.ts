// The short form of an id. Ids made at about the same time begin alike, because they are UUIDs of version 7; their ends are
// random.

export const SHORT_ID_LENGTH = 8

/** What stands for the end of an id: the 8 to 12 characters after the last hyphen. */
export const idEndPattern = '^[0-9A-Fa-f]{8,12}$'

export const isIdEnd = (text: string): boolean => new RegExp(idEndPattern).test(text)

export const shortId = (id: string): string => id.slice(-SHORT_ID_LENGTH)
