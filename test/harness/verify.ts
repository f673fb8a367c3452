import type { CheckFacts } from '../../src/db/check.ts'
import type { Db } from '../../src/db/client.ts'
import { factsOf, verify } from '../../src/operate/verify/verify.ts'
import type { TestService } from './service.ts'

/** The broken promises of the data now; empty on correct data. `promise: subject`, one for each line. */
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
