import type { TextFieldProps } from 'react-aria-components'
import { AreaField, Field } from '../fields.js'
import { limitText } from './limits.js'

type Props = Omit<TextFieldProps, 'children' | 'maxLength'> & {
  label: string
  limits: Parameters<typeof limitText>[0]
  help?: string | undefined
  fault?: string | null
  rows?: number
}

/**
 * A field with its limit beside it. The service checks it: a `maxlength` would cut off what is pasted, and counts other
 * characters than the service.
 */
export function LimitedField({ limits, help, rows, ...props }: Props) {
  const notes = [help, limitText(limits)].filter(Boolean).join('; ')
  return rows === undefined ? <Field {...props} help={notes} /> : <AreaField {...props} help={notes} rows={rows} />
}
