// A task starts when its inputs exist, independently of the other tasks of its level.
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { taskOrder } from '../../../domain/jobs/task-order.js'

test('tasks without inputs are ready at once, in the order of the script', () => {
  expect(taskOrder(['a', 'b', 'c'], [[], [0], []]).ready).toEqual(['a', 'c'])
})

test('a task is ready as soon as its own inputs are, whatever else still runs', () => {
  const order = taskOrder(['slow', 'quick', 'after quick'], [[], [], [1]])
  order.ready.length = 0
  order.done('quick')
  expect(order.ready).toEqual(['after quick'])
})

test('a result that a task takes twice is waited for once', () => {
  const order = taskOrder(['a', 'twice'], [[], [0, 0]])
  order.ready.length = 0
  order.done('a')
  expect(order.ready).toEqual(['twice'])
})

test('every graph completes, each task once and after all that it waits for', () => {
  const graphs = fc
    .integer({ min: 1, max: 40 })
    .chain((size) =>
      fc.tuple(
        fc.tuple(
          ...Array.from({ length: size }, (_, at) => fc.uniqueArray(fc.nat(Math.max(at - 1, 0)), { maxLength: at }))
        ),
        fc.infiniteStream(fc.nat())
      )
    )
  fc.assert(
    fc.property(graphs, ([waitsFor, choices]) => {
      const tasks = waitsFor.map((_, at) => `task ${at}`)
      const order = taskOrder(tasks, waitsFor)
      const done = new Set<string>()
      while (order.ready.length > 0) {
        const chosen = choices.next().value % order.ready.length
        const [key] = order.ready.splice(chosen, 1)
        expect(waitsFor[tasks.indexOf(key!)]!.every((at) => done.has(tasks[at]!))).toBe(true)
        expect(done.has(key!)).toBe(false)
        done.add(key!)
        order.done(key!)
      }
      expect(done.size).toBe(tasks.length)
    })
  )
})
