/** The queue of counts: which counts run, wait or share a result when many are requested at once. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { countQueue } from './count-queue.ts'

const NEVER_MS = 60_000

/** Returns a queue whose counts end when the test says so. */
function testQueue({ atOnce = 2, mayWait = 50, waitMs = NEVER_MS } = {}) {
  const ask = countQueue<string>({ atOnce, mayWait, waitMs, refusal: () => new Error('refused') })
  /** In the order in which they started. */
  const running: { key: string; signal: AbortSignal; end: (found: string) => void; fail: (error: Error) => void }[] = []
  return {
    running,
    keys: () => running.map(({ key }) => key),
    ask(key: string, signal = new AbortController().signal): Promise<string> {
      const answer = ask({
        key,
        signal,
        count(whileWanted) {
          const { promise, resolve, reject } = Promise.withResolvers<string>()
          const entry = { key, signal: whileWanted, end: resolve, fail: reject }
          running.push(entry)
          return promise.finally(() => running.splice(running.indexOf(entry), 1))
        },
      })
      answer.catch(() => {}) // some tests await it later
      return answer
    },
    async endFirst(found = 'found'): Promise<void> {
      running[0]!.end(found)
      await pause(0)
    },
  }
}

test('Lists: a few counts run at once, the others in the order they were requested, and each is answered', async () => {
  const queue = testQueue()
  const answers = Array.from({ length: 20 }, (_, n) => queue.ask(`${n}`))
  const order: string[] = []
  while (queue.running.length > 0) {
    expect(queue.running.length).toBeLessThanOrEqual(2)
    order.push(queue.keys()[0]!)
    await queue.endFirst(queue.keys()[0])
  }
  expect(order).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`))
  expect(await Promise.all(answers)).toEqual(order)
})

test('Lists: equal requests wait together for one count that starts after they were made', async () => {
  const queue = testQueue()
  const first = queue.ask('same')
  const others = Array.from({ length: 19 }, () => queue.ask('same'))
  expect(queue.keys()).toEqual(['same'])
  await queue.endFirst('before')
  expect(queue.keys()).toEqual(['same'])
  await queue.endFirst('after')
  expect(queue.keys()).toEqual([])
  expect(await first).toBe('before')
  expect(await Promise.all(others)).toEqual(Array.from({ length: 19 }, () => 'after'))
})

test('Lists: a count that waits for an equal one lets others pass and keeps its place', async () => {
  const queue = testQueue()
  for (const key of ['a', 'a', 'b', 'c']) void queue.ask(key)
  expect(queue.keys()).toEqual(['a', 'b'])
  await queue.endFirst()
  expect(queue.keys()).toEqual(['b', 'a'])
})

test('Lists: a caller that leaves gives up its place, and its count ends if nobody else waits for it', async () => {
  const queue = testQueue({ atOnce: 1 })
  const [waits, shares, runs] = [new AbortController(), new AbortController(), new AbortController()]
  const running = queue.ask('runs', runs.signal)
  const alone = queue.ask('alone', waits.signal)
  const [left, stays] = [queue.ask('shared', shares.signal), queue.ask('shared')]
  for (const leaver of [waits, shares]) leaver.abort()
  await expect(alone).rejects.toMatchObject({ code: 'TOO_SLOW' })
  await expect(left).rejects.toMatchObject({ code: 'TOO_SLOW' })
  const { signal, fail } = queue.running[0]!
  expect(signal.aborted).toBe(false)
  runs.abort()
  await expect(running).rejects.toMatchObject({ code: 'TOO_SLOW' })
  expect(signal.aborted).toBe(true)
  fail(new Error('ended'))
  await pause(0)
  expect(queue.keys()).toEqual(['shared'])
  expect(queue.running[0]!.signal.aborted).toBe(false)
  await queue.endFirst()
  expect(await stays).toBe('found')
  expect(queue.keys()).toEqual([])
})

test('Lists: the number of waiting counts is limited, but requests that share one do not add to it', async () => {
  const queue = testQueue({ mayWait: 3 })
  const asked = Array.from({ length: 20 }, (_, n) => queue.ask(`${n % 10}`))
  while (queue.running.length > 0) await queue.endFirst()
  const ends = await Promise.allSettled(asked)
  const answered = ends.flatMap(({ status }, n) => (status === 'fulfilled' ? n : []))
  // 0 and 1 run, and 2, 3 and 4 wait. 12, 13 and 14 share those; 10 and 11 find no place to wait for a new count equal to a running one.
  expect(answered).toEqual([0, 1, 2, 3, 4, 12, 13, 14])
})

test('Lists: a caller that waits too long is refused, and its place goes to others', async () => {
  const queue = testQueue({ atOnce: 1, waitMs: 20 })
  const runs = queue.ask('runs')
  await expect(queue.ask('waits')).rejects.toThrow('refused')
  void queue.ask('later')
  await queue.endFirst()
  expect(await runs).toBe('found')
  expect(queue.keys()).toEqual(['later'])
})

test('Lists: a failed count fails for all who share it, and the next one starts', async () => {
  const queue = testQueue({ atOnce: 1 })
  void queue.ask('first')
  const shared = [queue.ask('fails'), queue.ask('fails')]
  void queue.ask('last')
  await queue.endFirst()
  queue.running[0]!.fail(new Error('broken'))
  for (const answer of shared) await expect(answer).rejects.toThrow('broken')
  expect(queue.keys()).toEqual(['last'])
})
