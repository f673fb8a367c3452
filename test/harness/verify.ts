import type { CheckFacts } from '../../src/db/check.ts'
import type { Db } from '../../src/db/client.ts'
import { checks, factsOf, verify } from '../../src/operate/verify/verify.ts'
import type { TestService } from './service.ts'

/** The data's broken promises now, as lines of `promise: subject`. Empty on correct data. */
export const findBreaches = async (
  service: TestService,
  db: Db = service.deps.db,
  more: Partial<CheckFacts> = {},
): Promise<string[]> => {
  const facts = { ...factsOf(service.deps), ...more }
  const broken: string[] = []
  for await (const { promise, breaches } of verify(db, facts)) broken.push(...breaches.map((subject) => `${promise}: ${subject}`))
  return broken
}

/** The breaches of the promises in `named`, or of all promises if `named` is a breach: a fifth of a second of processor time. */
export const findBreachesOf = async (service: TestService, db: Db, named: string): Promise<string[]> => {
  const [promise = ''] = named.split(': ')
  const chosen = checks.filter((check) => new RegExp(promise).test(check.promise))
  if (chosen.length === 0) return findBreaches(service, db)
  const facts = { ...factsOf(service.deps), sealedThrough: '0' }
  const broken: string[] = []
  for (const check of chosen) broken.push(...(await check.find(db, facts)).map((subject) => `${check.promise}: ${subject}`))
  return broken
}
