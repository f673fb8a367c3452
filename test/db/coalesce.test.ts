import { expect, test } from 'vitest'
import { coalesce } from '../../src/db/coalesce.ts'

const recording = () => {
  const asked: (readonly string[])[] = []
  const ask = coalesce<string, string>({
    query: async (keys) => {
      asked.push(keys)
      return keys.map((key) => `answer to ${key}`)
    },
    maxInFlight: 1,
    maxKeys: 4,
  })
  return { ask, asked }
}

test('keys that are asked for in one turn are asked together, and each gets the answer to its own', async () => {
  const { ask, asked } = recording()
  const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(ask))
  expect(answers).toEqual(['a', 'b', 'c', 'd', 'e'].map((key) => `answer to ${key}`))
  expect(asked).toEqual([['a', 'b', 'c', 'd'], ['e']])
})

test('a key that is asked for in a later turn is asked again: nothing is kept', async () => {
  const { ask, asked } = recording()
  await ask('a')
  await ask('a')
  expect(asked).toEqual([['a'], ['a']])
})
