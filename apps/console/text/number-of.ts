/** A number as it was typed; what is not a valid number is sent as text, for the service to refuse in its words. */
export function numberOf(text: string): number | string {
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : text
}
