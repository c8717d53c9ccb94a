import { useQueryClient } from '@tanstack/react-query'
import { api, type Backend, bodyOf } from '../../api/client.js'
import { backendsQuery } from '../../api/queries.js'
import type { components } from '../../api/schema.js'
import { limitsOf } from '../../components/limits/limits.js'
import { numberOf } from '../../text/number-of.js'
import { type FormField, WriteForm } from '../write-form.js'

type Change = components['schemas']['AdminUpdateBackendRequest']

const statuses = {
  online: 'online',
  offline: 'offline',
  maintenance: 'maintenance'
} as const satisfies Record<Backend['status'], string>

const prices = {
  taskFee: 'A task, in USD',
  perShot: 'A shot, in USD',
  minimumCost: 'At least, in USD',
  perSecond: 'A second of the machine, in USD',
  secondsMax: 'Seconds of one circuit at most'
} as const satisfies Record<keyof Required<Backend['pricing']>, string>

type Price = keyof typeof prices
const priceNames = Object.keys(prices) as Price[]

const yesNo = [
  { value: 'true', text: 'yes' },
  { value: 'false', text: 'no' }
]

export function BackendForm({ backend, onClose }: { backend: Backend; onClose: () => void }) {
  const queryClient = useQueryClient()
  const fields = fieldsOf(backend)
  const start = Object.fromEntries(fields.map(({ name, start = '' }) => [name, start]))
  return (
    <WriteForm
      fields={fields}
      button="Change the backend"
      send={(values, header) =>
        bodyOf(
          api.PATCH('/api/admin/backends/{slug}', {
            params: { path: { slug: backend.slug }, header },
            body: changeOf(start, values)
          })
        )
      }
      onDone={() => {
        onClose()
        return queryClient.invalidateQueries({ queryKey: backendsQuery.queryKey })
      }}
      onCancel={onClose}
    />
  )
}

const fieldsOf = ({ status, pricing, description, isRecommended, displayOrder }: Backend): FormField<string>[] => [
  {
    name: 'status',
    label: 'Status',
    start: status,
    options: Object.keys(statuses).map((value) => ({ value, text: value }))
  },
  {
    name: 'isAvailable',
    label: 'Takes jobs',
    // The record says whether it takes jobs, for which this is one of several conditions.
    options: [{ value: '', text: 'as it is' }, ...yesNo]
  },
  ...priceNames.map(
    (name): FormField<string> => ({
      name: `pricing.${name}`,
      label: prices[name],
      kind: 'decimal',
      start: plainText(pricing[name]),
      limits: limitsOf('adminUpdateBackend', `pricing.${name}`)
    })
  ),
  { name: 'isRecommended', label: 'Recommended', start: String(isRecommended), options: yesNo },
  {
    name: 'displayOrder',
    label: 'Place in the list',
    kind: 'integer',
    start: String(displayOrder),
    limits: limitsOf('adminUpdateBackend', 'displayOrder')
  },
  {
    name: 'description',
    label: 'Description',
    kind: 'area',
    start: description ?? '',
    limits: limitsOf('adminUpdateBackend', 'description')
  }
]

/** Prices have at most six decimals. */
const plainText = (amount: number | undefined): string =>
  amount === undefined ? '' : amount.toFixed(6).replace(/\.?0+$/, '')

/** What was changed. An empty price for time takes it away. */
function changeOf(start: Record<string, string>, values: Record<string, string>): Change {
  const changed = (name: string) => values[name] !== start[name]
  const priceOf = (name: Price) => {
    const text = values[`pricing.${name}`]!
    return text.trim() === '' ? null : numberOf(text)
  }
  const changedPrices = priceNames.filter((name) => changed(`pricing.${name}`))
  return {
    ...(changed('status') && { status: values.status as Backend['status'] }),
    ...(changed('isAvailable') && { isAvailable: values.isAvailable === 'true' }),
    ...(changed('isRecommended') && { isRecommended: values.isRecommended === 'true' }),
    ...(changed('displayOrder') && { displayOrder: numberOf(values.displayOrder!) }),
    ...(changed('description') && { description: values.description!.trim() === '' ? null : values.description! }),
    ...(changedPrices.length > 0 && {
      pricing: Object.fromEntries(changedPrices.map((name) => [name, priceOf(name)]))
    })
  }
}
