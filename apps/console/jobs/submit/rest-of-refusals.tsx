import { messageOf } from '../../api/api-error.js'
import { Refusal } from '../../components/notice.js'

/** Refusals that no field shows. */
export const RestOf = ({ rest }: { rest: readonly unknown[] }) =>
  rest.map((error) => <Refusal key={messageOf(error)} error={error} />)
