import { rules } from '../policy/rules.ts'

/** Every rule that a decision's trace may name, with what it checks. */
export const ruleMeanings: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(rules).map(([name, { meaning }]) => [name, meaning]),
)
