import { randomInt } from 'node:crypto'

const ordinary = '20260304'

/** PROPERTY_SEED's value: a number, or `random` for another one in each run. */
export const chooseSeed = (wanted = ordinary): number => {
  const chosen = wanted === 'random' ? randomInt(1_000_000_000) : Number(wanted)
  if (wanted === '' || !Number.isSafeInteger(chosen) || chosen < 0)
    throw new Error(`PROPERTY_SEED=${wanted} is neither a number nor "random"`)
  return chosen
}

/** The seed of every random choice in tests, so that each run repeats the previous one's choices. */
export const propertySeed = chooseSeed(process.env.PROPERTY_SEED)
