import { createHash } from 'node:crypto'

/** Random numbers from a seed, so that a failed run can be repeated. */
export const createRandom = (seed: number, name: string) => {
  let count = 0
  return {
    id: `${seed}-${name.replace(/\W/g, '-')}`,
    below: (limit: number): number => {
      count += 1
      return createHash('sha256').update(`${seed} ${name} ${count}`).digest().readUInt32BE(0) % limit
    },
  }
}
