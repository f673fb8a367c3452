import { expect, test } from 'vitest'
import { joinTurn } from '../../src/db/join-turn.ts'

const recording = (identify?: (key: string) => string) => {
  const asked: (readonly string[])[] = []
  const ask = joinTurn<string, string>({
    query: async (keys) => {
      asked.push(keys)
      return keys.map((key) => `answer to ${key}`)
    },
    inFlight: 1,
    maxKeys: 4,
    ...(identify && { identify }),
  })
  return { ask, asked }
}

test('keys that ask for the same in one turn are asked once, and each gets the answer to its own', async () => {
  const { ask, asked } = recording((key) => key.toLowerCase())
  const answers = await Promise.all(['a', 'b', 'A', 'b'].map(ask))
  expect(answers).toEqual(['answer to a', 'answer to b', 'answer to a', 'answer to b'])
  expect(asked).toEqual([['a', 'b']])
})

test('a key that is asked for in a later turn is asked again', async () => {
  const { ask, asked } = recording((key) => key)
  for (let times = 0; times < 2; times += 1) await Promise.all(['a', 'a'].map(ask))
  expect(asked).toEqual([['a'], ['a']])
})

test('where nothing tells keys apart each is asked', async () => {
  const { ask, asked } = recording()
  await Promise.all(['a', 'a'].map(ask))
  expect(asked).toEqual([['a', 'a']])
})
