/** The page of a list, as an address holds it: from 1, and nothing for the first. */
export const readPage = ({ page }: Record<string, unknown>): { page?: number } =>
  Number.isSafeInteger(page) && (page as number) > 1 ? { page: page as number } : {}
