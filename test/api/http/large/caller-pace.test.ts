// The pace of large responses.
import { expect, test } from '@jest/globals'
import { type CallerPace, createCallerPace } from '../../../../apps/api/http/caller-pace.js'

/** A response of the caller that records the beginning of each read, and ends it only when told to. */
function reader(pace: CallerPace, caller: string, name: string, begun: string[]) {
  const { paced, close } = pace.open(caller)
  return {
    close,
    read() {
      let end = () => {}
      const over = new Promise<void>((resolve) => {
        end = resolve
      })
      const done = paced(async () => {
        begun.push(name)
        await over
      })
      return { done, end }
    }
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a caller with many responses has one slice read at a time, and another caller does not wait for it', async () => {
  const begun: string[] = []
  const pace = createCallerPace(0)
  const reads = ['ada 1', 'ada 2', 'ada 3'].map((name) => reader(pace, 'ada', name, begun).read())
  reader(pace, 'bob', 'bob 1', begun).read()
  await settled()
  expect(begun).toEqual(['ada 1', 'bob 1'])
  reads[0]!.end()
  await reads[0]!.done
  await settled()
  expect(begun).toEqual(['ada 1', 'bob 1', 'ada 2'])
})

test('a slice that fails gives the turn to the next', async () => {
  const begun: string[] = []
  const pace = createCallerPace(0)
  const failed = pace.open('ada').paced(() => Promise.reject(new Error('gone')))
  const next = reader(pace, 'ada', 'ada 2', begun).read()
  await expect(failed).rejects.toThrow('gone')
  next.end()
  await next.done
  expect(begun).toEqual(['ada 2'])
})

test("a caller's slices begin with the pause between them, also in a new response while another is open", async () => {
  const pace = createCallerPace(40)
  const first = pace.open('ada')
  const began = performance.now()
  await first.paced(async () => {})
  const second = pace.open('ada')
  first.close()
  await second.paced(async () => {})
  // A timer of Node can fire a millisecond or two early.
  expect(performance.now() - began).toBeGreaterThan(35)
})

test('a read can have a pause of its own', async () => {
  const { paced } = createCallerPace(0).open('ada')
  const began = performance.now()
  await paced(async () => {}, 40)
  await paced(async () => {})
  expect(performance.now() - began).toBeGreaterThan(35)
})
