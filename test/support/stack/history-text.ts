// For tests of what is in a workflow's history, and what is not.
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'

/** A history as text, with the inputs and results of its steps decoded. */
export const historyText = (history: Parameters<typeof historyToJSON>[0]): string =>
  historyToJSON(history).replaceAll(/"data": ?"([^"]*)"/g, (_whole, data: string) =>
    Buffer.from(data, 'base64').toString('utf8')
  )
