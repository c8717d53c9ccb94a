// A change of all workflows that no history of the present ones replays with: each begins with a timer.
import { sleep, type WorkflowInterceptors } from '@temporalio/workflow'

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        await sleep(10)
        return next(input)
      }
    }
  ]
})
