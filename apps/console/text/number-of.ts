/** A decimal number as it was typed. Anything else stays text, which the service refuses in its words. */
export const numberOf = (text: string): number =>
  (/^\s*-?\d+(\.\d+)?(e[+-]?\d{1,2})?\s*$/i.test(text) ? Number(text) : text) as number
