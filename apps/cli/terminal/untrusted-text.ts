// Text of users, and of servers, before a terminal sees it.

/** Makes text safe for a terminal: characters that would move its cursor or change its colours become �. */
export const plain = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (/[\n\t]/.test(char) ? char : '�'))

/** Like `plain`, for a value that must stay on one line. */
export const plainLine = (text: string): string =>
  plain(text)
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('\t', ' ')
