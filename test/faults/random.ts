import { createHash } from 'node:crypto'

/** Numbers that a seed decides: what failed once can be run again. */
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
